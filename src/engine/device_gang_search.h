// DeviceGangSearch: puts members of a gang on nodes with the devices that their claims ask for.
//
// Problem: place at least `need` members in all, each on a node that fits it, with devices for its
// claims there; a claim that several name is decided once for all; devices, counters and capacity
// may be shared between nodes.
// Idea: kind by kind, what is scarce first, each node filled with as many as fit. How many fit on
// one node is exact: where the first solutions fall short of what the node's devices could serve,
// the node is searched alone. Where claims have alternatives, members first get on every node what
// they prefer; where that is too few, nodes are filled once more by number alone. For one kind
// whose claims and pools concern one node only the sum over nodes then decides. Else the gang is
// placed anew in other orders (GangOrders), each from the beginning, between two runs, a short one
// and one with what is left, of a depth-first search over members, nodes and the solutions of each
// member on each node; members of a kind meet nodes in one order only, solutions that leave the
// same count once, and a state from which the rest was not found is not searched again. Of all
// orders the one is kept that places most, then the one that gives the earliest alternatives. Every
// step is counted against one limit. Nodes: those that give the claims' first alternatives, as
// upstream scores; then those with devices in use, so that whole ones stay whole; then where the
// member takes the smallest part of devices, the smallest devices, and those that are closest to
// each other; then those with the fewest free devices; then score, then name. Where one pod and one
// node matter the devices are upstream's. Cannot find: nothing that it has not proved, unless it
// says kLimit.
// Source: the devices contract, 10 and 12.3.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "engine/device_draft.h"
#include "engine/device_gang.h"
#include "engine/device_gang_orders.h"
#include "engine/draft.h"
#include "engine/extended_claims.h"
#include "engine/node_order.h"
#include "engine/search.h"

namespace gang::engine {

/// A member on a node, as the search placed it. A value.
struct DevicePick {
  std::size_t kind = 0;
  const DeviceMember* member = nullptr;
  std::uint32_t rank = 0;
  std::int32_t preference = 0;  ///< of the alternatives that it got
};

/// How a search ended. A value.
struct DeviceSearchEnd {
  SearchEnd end = SearchEnd::kPlaced;
  std::string fatal;  ///< why a kind cannot be placed on any node, or ""
};

/// See the head of the file. Lives for one attempt; one thread.
class DeviceGangSearch {
 public:
  /// All outlive this; the draft is begun and empty. Sorts the kinds.
  DeviceGangSearch(Draft& draft, DeviceDraft& devices, ExtendedClaims& extended,
                   std::vector<DeviceKind>& kinds);

  /// Leaves what it placed in both drafts: every member that fits when kPlaced, else the most that
  /// any tried order could place.
  [[nodiscard]] DeviceSearchEnd run(std::int32_t need);

  [[nodiscard]] const std::vector<DevicePick>& picks() const { return picks_; }
  /// Members of a kind that are placed.
  [[nodiscard]] std::int32_t placed_count(std::size_t kind) const { return placed_[kind]; }
  /// Whether not even one member of the kind fits on any node while nobody else is placed. Known
  /// once the gang was found not to fit.
  [[nodiscard]] bool fits_nowhere(std::size_t kind) const { return fits_nowhere_[kind]; }

 private:
  struct Point {
    DraftPoint draft;
    DevicePoint devices;
    std::size_t picks = 0;
  };
  /// What a solution must be at least while the nodes are gone through once. A value.
  struct Level {
    std::int32_t preference = 0;
    bool is_ready = false;  ///< it takes no device that drivers have to make ready yet
    std::int32_t preference_max = std::numeric_limits<std::int32_t>::max();
    /// Whether a node that gives that much, and may give less, can give it.
    [[nodiscard]] bool is_in(const MemberRating& rating) const {
      return rating.preference >= preference && (!is_ready || rating.waits == 0);
    }
    [[nodiscard]] bool has(const MemberRating& rating) const {
      return is_in(rating) && rating.preference <= preference_max;
    }
  };
  /// A node to be filled with members of a kind. A value.
  struct Spot {
    const GangTurn& turn;
    std::uint32_t rank = 0;
    Level level;
    bool is_last = true;     ///< the node is not met again
    std::int32_t count = 0;  ///< of the kind that shall be placed, on all nodes
  };
  /// How many members first solutions placed on a node, of how many at most. A value.
  struct Placed {
    std::int32_t count = 0;
    std::int32_t most = 0;
  };
  /// A member to be placed by the exact search, and where the search stands with it.
  struct Frame {
    std::size_t kind = 0;
    std::size_t member = 0;    ///< within the kind
    std::size_t position = 0;  ///< into the kind's nodes
    SolutionsSeen seen;        ///< on that node
    Point before;
    std::string state;  ///< once placed
    bool is_placed = false;
    bool leaves_rest = false;  ///< this member and the rest of its kind are left out
  };
  /// What the exact search has to do. A value.
  struct Task {
    std::vector<std::size_t> kinds;
    std::int32_t need = 0;  ///< members, counted from none
  };
  /// An order, what came of it, and what it took.
  struct Tried {
    GangOrder order;
    std::int32_t number = 0;  ///< of the try
    std::int32_t placed = 0;
    std::int64_t preference = 0;            ///< of all who are placed
    std::optional<std::size_t> short_kind;  ///< whose member was left out first
    SearchEnd end = SearchEnd::kPlaced;     ///< of the exact search
    std::int64_t exact_steps_max = 0;       ///< of exact searches in it
    std::int64_t steps = 0;
    [[nodiscard]] bool is_better_than(const Tried& other) const {
      return std::tie(placed, preference) > std::tie(other.placed, other.preference);
    }
  };
  /// Where a kind stands while members are scattered.
  struct Scattered {
    std::size_t level = 0;
    std::vector<std::size_t> positions;  ///< of its nodes that have refused nobody at this level
  };

  void sort_kinds();
  [[nodiscard]] std::int64_t match_count(const DeviceKind& kind);
  void order_nodes();
  [[nodiscard]] NodeOrder nodes_of(const DeviceKind& kind);
  void rate_nodes(std::size_t kind);
  [[nodiscard]] std::vector<Level> levels_of(std::size_t kind);
  /// Nodes, from the first, on which it is worth while to see what a member gets; 0: it gets the
  /// same on all.
  [[nodiscard]] std::size_t count_to_rate(std::size_t kind);
  [[nodiscard]] const cluster::NodeInfo& node_at(std::uint32_t rank) const;
  /// The node's devices when the attempt began.
  [[nodiscard]] NodeDevices counts_at(std::uint32_t rank);
  [[nodiscard]] DeviceWants wants_of(const DeviceKind& kind, std::size_t member,
                                     std::uint32_t rank);
  [[nodiscard]] DeviceStep place(std::size_t kind, std::uint32_t rank, SolutionsSeen* seen,
                                 DeviceTurn turn = {});
  [[nodiscard]] Point point() const;
  void rollback(const Point& to);

  void try_order(GangOrder order, std::int64_t steps_max);
  void place_by(const GangOrder& order);
  SearchEnd search_longer(std::int64_t steps_max);
  void try_for_shortages(std::int64_t steps_max);
  void try_scattered(std::int64_t steps_max);
  void restore_best();
  [[nodiscard]] bool is_best_possible() const;
  void scatter(const GangOrder& order);
  [[nodiscard]] std::vector<std::size_t> drawn_positions(std::size_t kind, Draws& draws);
  [[nodiscard]] bool scatter_one(std::size_t kind, Scattered& state, Draws& draws);
  void fill(const GangTurn& turn);
  [[nodiscard]] bool is_of(const Level& level, std::size_t kind, std::size_t position) const;
  void fill_best(const Spot& spot);
  std::int32_t fill_node(const Spot& spot, std::int32_t count_max);
  void improve_node(const Spot& spot, const Point& start, Placed placed);
  [[nodiscard]] std::int64_t count_bound(std::size_t index, std::uint32_t rank);
  [[nodiscard]] std::int32_t bound_of(std::size_t index, std::uint32_t rank);
  void note(const DeviceStep& step);
  [[nodiscard]] bool is_out_of_steps() const {
    return devices_.steps_left() <= 0 || devices_.stage().inputs.budget.is_spent();
  }
  [[nodiscard]] bool sums_decide();
  void find_misfits();
  [[nodiscard]] Task whole_task() const;
  [[nodiscard]] std::int32_t candidate_count() const;
  [[nodiscard]] bool may_fit_alone(std::size_t kind);

  SearchEnd search_exactly(const Task& task);
  std::optional<SearchEnd> step(const Task& task, std::vector<Frame>& frames);
  bool advance(Frame& frame);
  [[nodiscard]] bool is_in_reach(const Frame& frame);
  [[nodiscard]] std::string state_after(const Frame& frame);
  [[nodiscard]] bool is_stopped();
  [[nodiscard]] std::optional<Frame> next_frame(const Task& task, const Frame& frame) const;
  [[nodiscard]] std::int32_t rest_after(const Task& task, const Frame& frame) const;

  Draft& draft_;
  DeviceDraft& devices_;
  ExtendedClaims& extended_;
  std::vector<DeviceKind>& kinds_;
  std::vector<NodeOrder> nodes_;            ///< by kind
  std::vector<std::vector<Level>> levels_;  ///< by kind, the best first; the last has all
  std::vector<std::int32_t> placed_;        ///< by kind
  std::vector<bool> fits_nowhere_;          ///< by kind
  std::vector<DevicePick> picks_;
  const std::vector<std::size_t> shared_;   ///< claims that several members name
  Task task_;                               ///< of the exact search that is under way
  std::unordered_set<std::string> failed_;  ///< states from which it found nothing
  std::optional<GangOrders> orders_;        ///< once the kinds are sorted
  Tried last_;
  Tried best_;
  std::int32_t need_ = 0;
  std::int32_t member_count_ = 0;
  std::int64_t preference_max_ = 0;  ///< where every member gets its first alternatives
  std::int64_t stops_at_ = 0;        ///< steps left at which what is under way ends
  bool is_limited_ = false;          ///< something was not searched to its end
  std::string fatal_;
};

}  // namespace gang::engine
