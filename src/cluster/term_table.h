// TermTable: the required anti-affinity terms of pods on nodes, each kept once, where they hold,
// and which of them match a pending pod.
//
// What a term forbids is counted per topology value of the nodes its pods are on, and published for
// snapshots only while some class of pending pods matches it. Nothing here costs anything in a
// cluster without such terms. Source: the scheduling contract 5.12.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/columns.h"
#include "gang/api/pod.h"
#include "gang/cluster/snapshot.h"

namespace gang::cluster {

/// Position of a record in the PodTable. Reused after the pod is gone.
using PodSlot = std::uint32_t;

/// Owned by the state. Always: a term is known while a pod on a node has it or a class reads it;
/// ids are never given twice. matchLabelKeys are not its concern: the API server merges them into
/// the selector. Does not judge nodes.
class TermTable {
 public:
  /// The pod is on that node with these terms. True when one was not known: pending pods are to be
  /// matched anew. `facts` is null while the Node is not known.
  bool place(PodSlot pod, NodeIndex node, const NodeInfo* facts,
             const std::vector<api::PodAntiAffinityTerm>& terms);
  void take_away(PodSlot pod);
  /// The node's labels may have changed, or it came or went (null).
  void note_node(NodeIndex node, const NodeInfo* facts);

  /// The same for every node with terms.
  void note_nodes(const Columns& columns);

  /// Labels of a namespace; nullopt = it is gone. True when pending pods are to be matched anew.
  bool note_namespace(const std::string& name, std::optional<api::StringMap> labels);
  /// Null while the namespace is not known.
  [[nodiscard]] const api::StringMap* labels_of_namespace(const std::string& name) const;

  /// Terms that match a pod of that namespace with those labels, ascending. A namespaceSelector
  /// matches a namespace that is not known, so that no term is ever passed over.
  [[nodiscard]] std::vector<TermId> matching(const std::string& name_space,
                                             const api::StringMap& labels) const;

  /// A class of pending pods reads these terms, or does so no more.
  void read(const std::vector<TermId>& terms);
  void unread(const std::vector<TermId>& terms);

  /// Whether publish() would answer anew.
  [[nodiscard]] bool has_news() const { return !changed_.empty(); }
  /// Terms that are read, with the values they hold. Null when there are none.
  [[nodiscard]] std::shared_ptr<const TermDomains> publish();

  [[nodiscard]] std::size_t size() const { return terms_.size(); }

 private:
  /// A term with its holders by topology value.
  struct Term {
    std::map<api::PodAntiAffinityTerm, TermId>::iterator key;
    std::uint32_t holders = 0;                      ///< pods on nodes
    std::uint32_t readers = 0;                      ///< classes
    std::map<std::string, std::uint32_t> values{};  ///< nodes with holders, by their label
  };
  /// Holders of one term on one node, and the label under which they count.
  struct OnNode {
    std::uint32_t holders = 0;
    std::optional<std::string> value;
  };
  /// What one pod brought.
  struct Held {
    NodeIndex node;
    std::vector<TermId> terms;
  };

  TermId intern(const api::PodAntiAffinityTerm& term, bool& is_new);
  void drop_if_unused(TermId id);
  void set_value(TermId id, OnNode& on_node, std::optional<std::string> value);
  [[nodiscard]] bool matches(const Term& term, const std::string& name_space,
                             const api::StringMap& labels) const;

  std::map<api::PodAntiAffinityTerm, TermId> ids_;
  std::map<TermId, Term> terms_;
  std::map<std::string, std::set<TermId>> by_namespace_;
  std::set<TermId> by_selector_;  ///< with a namespaceSelector
  std::map<std::string, api::StringMap> name_spaces_;
  std::map<std::pair<NodeIndex, TermId>, OnNode> on_nodes_;
  std::unordered_map<PodSlot, Held> held_;
  std::set<TermId> changed_;  ///< since publish(), among those that are or were read
  std::shared_ptr<const TermDomains> published_;
  std::uint32_t ids_given_ = 0;
};

}  // namespace gang::cluster
