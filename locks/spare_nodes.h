// spare_nodes.h — One thread's queue nodes that no lock uses at the moment: what the worlds keep in a thread's record.
// SPDX-License-Identifier: MIT
//
// A thread takes a node when it queues for a lock and gives it back when it has let the lock go, so a node may be in
// use while its thread holds the lock, and as many are in use as the thread holds and awaits locks. A list per type of
// node, last given first taken; a node keeps its type, its place and what stands in it.
#pragma once

#include <utility>
#include <vector>

namespace convoy {

class SpareNodes {
 public:
  // A node as a world makes it, with the link of the list behind it. Never destroyed.
  template <class Node>
  struct Spare : Node {
    Spare* next_spare = nullptr;
  };

  // Null when all of the thread's nodes of this type are in use.
  template <class Node>
  Node* take() {
    void*& head = head_of(&kTypeOf<Node>);
    auto* spare = static_cast<Spare<Node>*>(head);
    if (spare != nullptr) head = spare->next_spare;
    return spare;
  }
  // Requires: `node` was made as a Spare<Node>.
  template <class Node>
  void give(Node* node) {
    void*& head = head_of(&kTypeOf<Node>);
    auto* spare = static_cast<Spare<Node>*>(node);
    spare->next_spare = static_cast<Spare<Node>*>(head);
    head = spare;
  }

  // The whole list of a type, and back again.
  template <class Node>
  Spare<Node>* take_all() {
    return static_cast<Spare<Node>*>(std::exchange(head_of(&kTypeOf<Node>), nullptr));
  }
  template <class Node>
  void give_all(Spare<Node>* spares) {
    head_of(&kTypeOf<Node>) = spares;
  }

 private:
  struct List {
    const void* type;
    void* head;
  };
  // Its address stands for the type.
  template <class Node>
  static constexpr char kTypeOf{};

  // Few locks need nodes: a list is the first or the second.
  void*& head_of(const void* type) {
    for (List& list : lists_) {
      if (list.type == type) return list.head;
    }
    return lists_.emplace_back(List{type, nullptr}).head;
  }

  std::vector<List> lists_;
};

}  // namespace convoy
