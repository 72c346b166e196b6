// CallObservers: forwards to several observers, in the given order.
#ifndef BELLJAR_SERVER_OPERATIONS_CALL_OBSERVERS_H_
#define BELLJAR_SERVER_OPERATIONS_CALL_OBSERVERS_H_

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "server/calls/observer.h"

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
  void Submitted(const ExecutionRecord& record) override {
    for (CallObserver* observer : observers_) observer->Submitted(record);
  }
  void Started(const ExecutionRecord& record) override {
    for (CallObserver* observer : observers_) observer->Started(record);
  }
  void Refused(const ExecutionRecord& record) override {
    for (CallObserver* observer : observers_) observer->Refused(record);
  }
  bool WantsOutput(std::string_view caller) const override {
    return std::any_of(observers_.begin(), observers_.end(),
                       [&](const CallObserver* observer) { return observer->WantsOutput(caller); });
  }
  void Printed(const ExecutionRecord& record, std::string_view text) override {
    for (CallObserver* observer : observers_) observer->Printed(record, text);
  }

 private:
  const std::vector<CallObserver*> observers_;
};

}  // namespace belljar::server::operations

#endif  // BELLJAR_SERVER_OPERATIONS_CALL_OBSERVERS_H_
