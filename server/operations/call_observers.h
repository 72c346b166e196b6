// CallObservers: several observers as one, in the order in which they were given.
#ifndef BELLJAR_SERVER_OPERATIONS_CALL_OBSERVERS_H_
#define BELLJAR_SERVER_OPERATIONS_CALL_OBSERVERS_H_

#include <utility>
#include <vector>

#include "server/core/observer.h"

namespace belljar::server::operations {

class CallObservers : public CallObserver {
 public:
  // Borrowed; they outlive this.
  explicit CallObservers(std::vector<CallObserver*> observers) : observers_(std::move(observers)) {}

  void Called(const CallRecord& record) override {
    for (CallObserver* observer : observers_) observer->Called(record);
  }

 private:
  const std::vector<CallObserver*> observers_;
};

}  // namespace belljar::server::operations

#endif  // BELLJAR_SERVER_OPERATIONS_CALL_OBSERVERS_H_
