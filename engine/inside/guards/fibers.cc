// Fibers: the threads of a guest. Each has a C stack and a thread state of its own, and all run on
// the worker's one kernel thread: one runs until it hands over with switch_fiber().
//
//   fiber = guards.make_fiber(body, 0)   # nothing has run yet
//   guards.switch_fiber(fiber)           # returns when somebody switches back
//
// `body` takes no arguments and returns the fiber that continues when it has ended. Callers:
// policy/belljar_policy/library/scheduler.py, which decides who runs. Guests never get a fiber.
//
// Everything that CPython keeps per thread (frames, the exception being handled, recursion depth,
// context variables, thread-local data, hooks of asynchronous generators) is in the thread state,
// so C code sees what it would see with kernel threads. A switch happens only in switch_fiber(),
// hence only where Python code calls it: no guard is ever interrupted between its check and its
// use, except by code of the guest that it calls itself, which it must expect in any case.
//
// Fibers are private memory of the process, and a clone of it continues them. CPython's fork hooks
// delete the thread states of all other threads; so those of fibers are in no list where they would
// find them. The process must be cloned while the first fiber runs.
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "engine/inside/guards/gil_state.h"
#include "engine/inside/guards/guards.h"

namespace belljar::inside::guards {
namespace {

// Additional stack for what is not counted, or for unusually deep calls: at the default limit of
// 1000, a __getattr__ that recurses takes 900 KiB. Only a recursive list.sort() takes more, 3 KiB
// per call; it ends in the guard pages.
constexpr size_t kReserve = size_t{640} << 10;
// Below the stack. More than a page: a C function with large local arrays could step over that
// without touching it (CVE-2017-1000364, "Stack Clash").
constexpr size_t kGuard = size_t{64} << 10;
// The deepest calls through C: those of a stack of 8 MiB are 20,000 (library/sys.py).
#if PY_VERSION_HEX >= 0x030C0000
constexpr size_t kStackPerCall = 840;  // only calls through C are counted by this limit
#else
constexpr size_t kStackPerCall = 440;
#endif
constexpr size_t kMaxStack = size_t{512} << 20;
// Maximum number of calls that a stack is sized for. With a higher limit, programs can nest calls
// of Python functions, which use none of it, or end in the guard pages, as in CPython.
constexpr int kMaxCalls = 100'000;
// Since 3.14: kept free beyond the point where CPython refuses another call, for what still runs
// then.
constexpr size_t kHeadroom = size_t{64} << 10;
constexpr size_t kKeptStacks = 16;

struct Stack {
  void* memory = nullptr;
  size_t size = 0;
};

enum class Phase { kNew, kStarted, kEnded };

struct Fiber {
  PyObject_HEAD PyObject* body;
  PyThreadState* thread_state;
  Stack stack;
  ucontext_t context;
  Phase phase;
  // State of the guards: what the fiber is in the middle of.
  PyFrameObject* asking;
  int creating;
};

Fiber* first_fiber = nullptr;
Fiber* running_fiber = nullptr;
Fiber* ended_fiber = nullptr;     // its stack is released by the one that runs next
unsigned long kernel_thread = 0;  // of all fibers; only without the policy can there be others
std::vector<Stack> kept_stacks;   // of ended fibers, all of one size

[[maybe_unused]] int CallsOf(const Stack& stack) {
  const size_t usable = stack.size - std::min(stack.size, kReserve + kGuard);
  return static_cast<int>(usable / kStackPerCall);
}

Stack AllocateStack(size_t size) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size = (size + page - 1) / page * page + kGuard;
  if (!kept_stacks.empty() && kept_stacks.back().size == size) {
    const Stack kept = kept_stacks.back();
    kept_stacks.pop_back();
    return kept;
  }
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return {};
  // An overflow faults instead of writing to what lies below.
  if (mprotect(memory, kGuard, PROT_NONE) != 0) {
    munmap(memory, size);
    return {};
  }
  return {memory, size};
}

void ReleaseStack(const Stack& stack) {
  const bool fits = kept_stacks.empty() || kept_stacks.back().size == stack.size;
  if (fits && kept_stacks.size() < kKeptStacks) {
    kept_stacks.push_back(stack);
  } else {
    munmap(stack.memory, stack.size);
  }
}

// Takes `made` out of the interpreter's list. New states are put at the head, which has no public
// name: another one in front makes it an ordinary element.
bool Unlist(PyThreadState* made) {
  PyThreadState* head = PyThreadState_New(made->interp);
  if (head == nullptr) return false;
  if (head->next == made) {
    head->next = made->next;
    if (made->next != nullptr) made->next->prev = head;
    made->prev = nullptr;
    made->next = nullptr;
  }
  PyThreadState_Clear(head);
  PyThreadState_Delete(head);
  return true;
}

// Back into the list, from which PyThreadState_Delete() takes it.
void List(PyThreadState* state) {
  if (state->prev != nullptr || state->next != nullptr) return;
  PyThreadState* before = first_fiber->thread_state;
  state->prev = before;
  state->next = before->next;
  if (before->next != nullptr) before->next->prev = state;
  before->next = state;
}

// The depth of calls that fits the fiber's stack, or less if the program set a lower limit; for a
// stack that holds kMaxCalls, what the program set.
void FitRecursionLimit(const Fiber* fiber) {
  PyThreadState* thread = fiber->thread_state;
#if PY_VERSION_HEX >= 0x030E0000
  // Calls through C end where the stack does: 3.14 compares the stack pointer with the stack's
  // ends, which it would otherwise take from the kernel thread. It cannot fail: the stack is large
  // enough.
  if (fiber->phase == Phase::kNew) {
    (void)PyUnstable_ThreadState_SetStackProtection(
        thread, static_cast<char*>(fiber->stack.memory) + kGuard + kHeadroom,
        fiber->stack.size - kGuard - kHeadroom);
  }
  const int limit = Py_GetRecursionLimit();
  const int depth = thread->py_recursion_limit - thread->py_recursion_remaining;
  thread->py_recursion_limit = limit;
  thread->py_recursion_remaining = limit - depth;
#elif PY_VERSION_HEX >= 0x030C0000
  const int fitting = CallsOf(fiber->stack);
  const int limit = Py_GetRecursionLimit();
  const int depth = thread->py_recursion_limit - thread->py_recursion_remaining;
  thread->py_recursion_limit = limit;
  thread->py_recursion_remaining = limit - depth;
  if (fiber->phase == Phase::kNew) {
    thread->c_recursion_remaining = std::min(thread->c_recursion_remaining, fitting);
  }
#else
  const int fitting = CallsOf(fiber->stack);
  const int asked = Py_GetRecursionLimit();
  const int limit = fitting < kMaxCalls ? std::min(asked, fitting) : asked;
  const int depth = thread->recursion_limit - thread->recursion_remaining;
  thread->recursion_limit = limit;
  thread->recursion_remaining = limit - depth;
#endif
}

void FiberDealloc(PyObject* object);

PyTypeObject fiber_type = {
    .ob_base = {PyObject_HEAD_INIT(nullptr) 0},
    .tp_name = "_belljar_guards.Fiber",
    .tp_basicsize = sizeof(Fiber),
    .tp_dealloc = FiberDealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

bool IsFiber(PyObject* object) { return Py_TYPE(object) == &fiber_type; }
Fiber* AsFiber(PyObject* object) { return reinterpret_cast<Fiber*>(object); }

Fiber* NewFiber() {
  Fiber* fiber = PyObject_New(Fiber, &fiber_type);
  if (fiber == nullptr) return nullptr;
  fiber->body = nullptr;
  fiber->thread_state = nullptr;
  fiber->stack = {};
  fiber->phase = Phase::kNew;
  fiber->asking = nullptr;
  fiber->creating = 0;
  return fiber;
}

// The kernel thread's own stack and state.
bool ReadyFirst() {
  if (first_fiber != nullptr) return true;
  first_fiber = NewFiber();
  if (first_fiber == nullptr) return false;
  first_fiber->thread_state = PyThreadState_Get();
  kernel_thread = PyThread_get_thread_ident();
  first_fiber->phase = Phase::kStarted;
  running_fiber = first_fiber;
  return true;
}

void ReleaseEnded() {
  Fiber* fiber = std::exchange(ended_fiber, nullptr);
  if (fiber == nullptr) return;
  List(fiber->thread_state);
  PyThreadState_Delete(std::exchange(fiber->thread_state, nullptr));
  ReleaseStack(std::exchange(fiber->stack, {}));
  Py_DECREF(reinterpret_cast<PyObject*>(fiber));
}

// Returns when another fiber switches back. `to` is not the running one.
void Switch(Fiber* to) {
  Fiber* from = running_fiber;
  from->asking = std::exchange(state.asking, to->asking);
  from->creating = ExchangeClassesInCreation(to->creating);
  running_fiber = to;
  PyThreadState_Swap(to->thread_state);
  belljar_set_gil_state(to->thread_state);
  swapcontext(&from->context, &to->context);
  ReleaseEnded();
}

void RunFiber() {
  ReleaseEnded();
  Fiber* self = running_fiber;
  PyObject* next = PyObject_CallNoArgs(self->body);
  // The body is our own and returns a fiber that can continue; if not, the first one does.
  Fiber* to = first_fiber;
  if (next == nullptr) {
    PyErr_WriteUnraisable(self->body);
  } else if (IsFiber(next) && AsFiber(next)->phase != Phase::kEnded && AsFiber(next) != self) {
    to = AsFiber(next);
  }
  Py_CLEAR(self->body);
  // Destroys thread-local data, which may be the guest's: before anyone else runs.
  PyThreadState_Clear(self->thread_state);
  self->phase = Phase::kEnded;
  ended_fiber = self;
  if (to->phase == Phase::kNew) {
    to->phase = Phase::kStarted;
    Py_INCREF(reinterpret_cast<PyObject*>(to));
  }
  Py_XDECREF(next);  // whoever is to run is referenced elsewhere: by itself, once it has started
  Switch(to);
  Py_UNREACHABLE();
}

void FiberDealloc(PyObject* object) {
  Fiber* fiber = AsFiber(object);
  Py_XDECREF(fiber->body);
  if (fiber->thread_state != nullptr) {  // it never ran: a started fiber owns itself until its end
    PyThreadState_Clear(fiber->thread_state);
    List(fiber->thread_state);
    PyThreadState_Delete(fiber->thread_state);
    ReleaseStack(fiber->stack);
  }
  PyObject_Free(object);
}

PyObject* NoThread(const char* why) {
  PyErr_Format(PyExc_RuntimeError, "can't start new thread: %s", why);
  return nullptr;
}

// make_fiber(body, stack_size): `stack_size` in bytes, or 0 for one that holds as many calls as the
// recursion limit allows, up to kMaxCalls.
PyObject* MakeFiber(PyObject* /*module*/, PyObject* args) {
  PyObject* body = nullptr;
  Py_ssize_t asked = 0;
  if (!PyArg_ParseTuple(args, "On", &body, &asked) || !ReadyFirst()) return nullptr;
  if (PyThread_get_thread_ident() != kernel_thread) {
    return NoThread("fibers belong to the main thread, and this is another one");
  }
  const auto calls = static_cast<size_t>(std::min(Py_GetRecursionLimit(), kMaxCalls));
  const size_t needed = kReserve + calls * kStackPerCall;
  const size_t size =
      std::min(std::max(needed, static_cast<size_t>(std::max<Py_ssize_t>(asked, 0))), kMaxStack);
  Fiber* fiber = NewFiber();
  if (fiber == nullptr) return nullptr;
  auto* object = reinterpret_cast<PyObject*>(fiber);
  fiber->stack = AllocateStack(size);
  if (fiber->stack.memory == nullptr) {
    Py_DECREF(object);
    return NoThread("there is no memory left for its stack");
  }
  PyThreadState* made = PyThreadState_New(PyThreadState_Get()->interp);
  if (made == nullptr || !Unlist(made)) {
    // A state that could not be taken out of the list stays there; memory has run out.
    ReleaseStack(std::exchange(fiber->stack, {}));
    Py_DECREF(object);
    return PyErr_NoMemory();
  }
  fiber->thread_state = made;
  fiber->body = Py_NewRef(body);
  FitRecursionLimit(fiber);
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack.memory;
  fiber->context.uc_stack.ss_size = fiber->stack.size;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, RunFiber, 0);
  return object;
}

PyObject* SwitchFiber(PyObject* /*module*/, PyObject* object) {
  if (!IsFiber(object) || AsFiber(object)->phase == Phase::kEnded || !ReadyFirst() ||
      PyThread_get_thread_ident() != kernel_thread) {
    PyErr_SetString(PyExc_TypeError, "switch_fiber() takes a fiber that has not ended");
    return nullptr;
  }
  Fiber* to = AsFiber(object);
  if (to == running_fiber) Py_RETURN_NONE;
  if (to->phase == Phase::kNew) {
    to->phase = Phase::kStarted;
    Py_INCREF(object);  // a started fiber owns itself: its stack refers to objects until it ends
  }
  Switch(to);
  Py_RETURN_NONE;
}

PyObject* RunningFiber(PyObject* /*module*/, PyObject* /*unused*/) {
  if (!ReadyFirst()) return nullptr;
  return Py_NewRef(reinterpret_cast<PyObject*>(running_fiber));
}

PyObject* FitRecursionLimitMethod(PyObject* /*module*/, PyObject* /*unused*/) {
  if (running_fiber != nullptr && running_fiber != first_fiber) FitRecursionLimit(running_fiber);
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef fiber_methods[] = {
    {"make_fiber", MakeFiber, METH_VARARGS, nullptr},
    {"switch_fiber", SwitchFiber, METH_O, nullptr},
    {"running_fiber", RunningFiber, METH_NOARGS, nullptr},
    {"fit_recursion_limit", FitRecursionLimitMethod, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

bool ReadyFibers() { return PyType_Ready(&fiber_type) == 0; }

}  // namespace belljar::inside::guards
