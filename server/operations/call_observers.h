// CallObservers: forwards to several observers, in the given order.
#ifndef BELLJAR_SERVER_OPERATIONS_CALL_OBSERVERS_H_
#define BELLJAR_SERVER_OPERATIONS_CALL_OBSERVERS_H_

#include <utility>
#include <vector>

#include "server/core/observer.h"

namespace belljar::server::operations {

class CallObservers : public CallObserver {
 public:
  // Borrowed; they must outlive this object.
  explicit CallObservers(std::vector<CallObserver*> observers) : observers_(std::move(observers)) {}

  void Called(const CallRecord& record) override {
    for (CallObserver* observer : observers_) observer->Called(record);
  }
  void SessionChanged(const SessionRecord& record) override {
    for (CallObserver* observer : observers_) observer->SessionChanged(record);
  }

 private:
  const std::vector<CallObserver*> observers_;
};

}  // namespace belljar::server::operations

#endif  // BELLJAR_SERVER_OPERATIONS_CALL_OBSERVERS_H_
