"""Tasks that pass packets through queues, in the manner of the Richards benchmark."""


class Packet:
    def __init__(self, kind, value):
        self.kind = kind
        self.value = value
        self.link = None


class Task:
    def __init__(self, name, priority):
        self.name = name
        self.priority = priority
        self.queue = []
        self.done = 0

    def accept(self, packet):
        self.queue.append(packet)

    def run(self, scheduler):
        raise NotImplementedError


class Worker(Task):
    def run(self, scheduler):
        packet = self.queue.pop()
        packet.value = (packet.value * 31 + self.priority) % 65_521
        self.done += 1
        scheduler.send("device" if packet.value & 1 else "handler", packet)


class Device(Task):
    def run(self, scheduler):
        packet = self.queue.pop()
        packet.kind = "data"
        self.done += 1
        scheduler.send("handler", packet)


class Handler(Task):
    def run(self, scheduler):
        packet = self.queue.pop()
        self.done += 1
        if self.done % 3:
            packet.kind = "work"
            scheduler.send("worker", packet)
        else:
            scheduler.send("device", packet)


class Scheduler:
    def __init__(self, tasks):
        self.tasks = {task.name: task for task in tasks}
        self.order = sorted(tasks, key=lambda task: -task.priority)
        self.hops = 0

    def send(self, name, packet):
        self.hops += 1
        self.tasks[name].accept(packet)

    def step(self):
        for task in self.order:
            if task.queue:
                task.run(self)
                return True
        return False


def kernel():
    scheduler = Scheduler([Worker("worker", 3), Device("device", 2), Handler("handler", 1)])
    for i in range(20):
        scheduler.send("worker", Packet("work", i))
    for _ in range(40_000):
        scheduler.step()
    return scheduler.hops
