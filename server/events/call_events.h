// CallEvents: turns reports of the tools and their callers about calls and sessions into events.
//
//   CallEvents events(hub);
//   CallObservers observers({&metrics, &log, &events});
//
// Each execution.submitted is followed by exactly one of execution.ended and execution.refused.
#ifndef BELLJAR_SERVER_EVENTS_CALL_EVENTS_H_
#define BELLJAR_SERVER_EVENTS_CALL_EVENTS_H_

#include <string_view>

#include "server/calls/observer.h"
#include "server/events/event_hub.h"

namespace belljar::server::events {

class CallEvents : public CallObserver {
 public:
  explicit CallEvents(EventHub& hub) : hub_(hub) {}

  void Called(const CallRecord& record) override;
  void SessionChanged(const SessionRecord& record) override;
  void Submitted(const ExecutionRecord& record) override;
  void Started(const ExecutionRecord& record) override;
  void Refused(const ExecutionRecord& record) override;
  bool WantsOutput(std::string_view caller) const override { return hub_.WantsOutput(caller); }
  void Printed(const ExecutionRecord& record, std::string_view text) override;

 private:
  void PublishDetails(const CallRecord& record);

  EventHub& hub_;
};

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_CALL_EVENTS_H_
