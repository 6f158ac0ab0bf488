#include "engine/overlay.h"

#include <algorithm>

#include "gang/base/check.h"

namespace gang::engine {

bool NodeUse::port_taken(const api::HostPort& wanted) const {
  const auto conflicts = [&wanted](const api::HostPort& used) {
    return api::conflicts(used, wanted);
  };
  if (booked_ != nullptr && std::ranges::any_of(booked_->ports, conflicts)) return true;
  if (usage_ == nullptr) return false;
  return std::ranges::any_of(snapshot_.ports(node_), conflicts, &cluster::PortUse::port);
}

void Overlay::begin(const cluster::Snapshot& snapshot) {
  CHECK(log_.empty());
  snapshot_ = &snapshot;
  if (book_of_.size() < snapshot.slot_count()) book_of_.resize(snapshot.slot_count(), 0);
}

void Overlay::assign(cluster::NodeIndex node, const cluster::PodClass& pod_class) {
  std::uint32_t& book = book_of_[node.value];
  const bool opens_book = book == 0;
  if (opens_book) {
    if (open_books_ == books_.size()) books_.emplace_back();
    book = ++open_books_;
    books_[book - 1].node = node;
  }
  Bookings& booked = books_[book - 1];
  for (const cluster::ResourceAmount& request : pod_class.requests) {
    if (request.resource.value >= booked.amounts.size()) {
      booked.amounts.resize(request.resource.value + std::size_t{1}, 0);
    }
    booked.amounts[request.resource.value] += request.amount;
  }
  booked.nonzero_cpu += pod_class.nonzero.cpu_milli;
  booked.nonzero_memory += pod_class.nonzero.memory_bytes;
  booked.ports.insert(booked.ports.end(), pod_class.host_ports.begin(), pod_class.host_ports.end());
  log_.push_back({.book = book, .opened_book = opens_book, .pod_class = &pod_class});
}

bool Overlay::same_bookings(cluster::NodeIndex a, cluster::NodeIndex b) const {
  if (!touched(a) || !touched(b)) return touched(a) == touched(b);
  const Bookings& of_a = books_[book_of_[a.value] - 1];
  const Bookings& of_b = books_[book_of_[b.value] - 1];
  const auto amount = [](const Bookings& booked, std::size_t resource) {
    return resource < booked.amounts.size() ? booked.amounts[resource] : 0;
  };
  for (std::size_t i = 0; i < std::max(of_a.amounts.size(), of_b.amounts.size()); ++i) {
    if (amount(of_a, i) != amount(of_b, i)) return false;
  }
  return of_a.ports == of_b.ports;
}

void Overlay::rollback(std::size_t to) {
  while (log_.size() > to) {
    const Entry entry = log_.back();
    log_.pop_back();
    Bookings& booked = books_[entry.book - 1];
    for (const cluster::ResourceAmount& request : entry.pod_class->requests) {
      booked.amounts[request.resource.value] -= request.amount;
    }
    booked.nonzero_cpu -= entry.pod_class->nonzero.cpu_milli;
    booked.nonzero_memory -= entry.pod_class->nonzero.memory_bytes;
    booked.ports.resize(booked.ports.size() - entry.pod_class->host_ports.size());
    if (!entry.opened_book) continue;
    CHECK(entry.book == open_books_);
    book_of_[booked.node.value] = 0;
    --open_books_;
  }
}

}  // namespace gang::engine
