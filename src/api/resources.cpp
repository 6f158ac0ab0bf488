#include "gang/api/resources.h"

#include <algorithm>
#include <string>

#include "gang/api/names.h"

namespace gang::api {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

auto lower_bound_of(auto& entries, std::string_view name) {
  return std::lower_bound(entries.begin(), entries.end(), name,
                          [](const ResourceList::Entry& entry, std::string_view key) {
                            return entry.first.compare(key) < 0;
                          });
}

}  // namespace

ResourceList::ResourceList(std::vector<Entry> entries) {
  entries_.reserve(entries.size());
  for (const auto& [name, quantity] : entries) set(name, quantity);
}

const Quantity* ResourceList::find(std::string_view name) const {
  const auto at = lower_bound_of(entries_, name);
  return at != entries_.end() && at->first == name ? &at->second : nullptr;
}

void ResourceList::set(std::string_view name, const Quantity& quantity) {
  const auto at = lower_bound_of(entries_, name);
  if (at != entries_.end() && at->first == name) {
    at->second = quantity;
  } else {
    entries_.emplace(at, name, quantity);
  }
}

void ResourceList::add(const ResourceList& other) {
  for (const auto& [name, quantity] : other.entries_) {
    const auto at = lower_bound_of(entries_, name);
    if (at != entries_.end() && at->first == name) {
      at->second += quantity;
    } else {
      entries_.emplace(at, name, quantity);
    }
  }
}

void ResourceList::max_with(const ResourceList& other) {
  for (const auto& [name, quantity] : other.entries_) {
    const auto at = lower_bound_of(entries_, name);
    if (at != entries_.end() && at->first == name) {
      at->second = std::max(at->second, quantity);
    } else {
      entries_.emplace(at, name, quantity);
    }
  }
}

bool is_accounted(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource == "ephemeral-storage" ||
         resource == "pods" || resource.starts_with("hugepages-") ||
         resource.starts_with("attachable-volumes-") || contains(resource, "kubernetes.io/") ||
         is_extended(resource);
}

bool is_extended(std::string_view resource) {
  return contains(resource, "/") && !contains(resource, "kubernetes.io/") &&
         !resource.starts_with("requests.");
}

bool may_be_devices(std::string_view resource) {
  if (resource.starts_with(kClassResourcePrefix)) return true;
  return is_extended(resource) && is_qualified_name("requests." + std::string(resource));
}

std::int64_t whole(std::string_view resource, const Quantity& quantity) {
  return resource == "cpu" ? quantity.milli_value() : quantity.value();
}

}  // namespace gang::api
