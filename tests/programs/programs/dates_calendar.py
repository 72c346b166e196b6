import calendar
import time
from datetime import date, datetime, time as clock, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def age(born: date, today: date) -> int:
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))


def easter(year):
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    l = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * l) // 451
    month, day = divmod(h + l - 7 * m + 114, 31)
    return date(year, month, day + 1)


def workdays(start, end):
    day = start
    while day < end:
        if day.weekday() < 5:
            yield day
        day += timedelta(days=1)


class Fixed(tzinfo):
    def __init__(self, hours, name): self._offset, self._name = timedelta(hours=hours), name
    def utcoffset(self, dt): return self._offset
    def dst(self, dt): return timedelta(0)
    def tzname(self, dt): return self._name


class Deadline(date):
    def __new__(cls, *args, label=""):
        self = super().__new__(cls, *args)
        self.label = label
        return self

    def __format__(self, spec): return f"{self.label}@{super().__format__(spec or '%d.%m.%y')}"


print(age(date(2000, 2, 29), date(2024, 2, 28)), age(date(2000, 2, 29), date(2024, 2, 29)), *map(str, map(easter, (2024, 2025))))
print([f"{d:%a %d}" for d in workdays(date(2024, 2, 27), date(2024, 3, 5))], (date(2024, 12, 25) - date(2024, 3, 1)).days)
d = datetime(2024, 2, 29, 13, 5, 9, 123456)
print(d.isoformat(), d.strftime("%Y/%j %I:%M %p %A %B %U"), d.replace(year=2023, day=28).date(), d.timetuple()[:6], d.isocalendar())
print(datetime.strptime("3 Mar 2021 17:45", "%d %b %Y %H:%M"), date.fromisoformat("2021-03-04").toordinal(), datetime.fromisoformat("2024-01-01T00:00:00+02:00"))
delta = timedelta(days=1, hours=25, minutes=-5)
print(delta, delta.total_seconds(), delta / 2, -delta, delta // timedelta(hours=7), abs(timedelta(-1)), timedelta(weeks=1) > delta, divmod(delta, timedelta(hours=10)))
utc = datetime(2024, 3, 31, 0, 30, tzinfo=timezone.utc)
for name in "Europe/Berlin", "America/New_York", "Asia/Kolkata":
    local = utc.astimezone(ZoneInfo(name))
    print(f"{name:<18}{local:%Y-%m-%d %H:%M %Z %z}", local + timedelta(hours=1) == utc + timedelta(hours=1))
try: ZoneInfo("Mars/Olympus")
except ZoneInfoNotFoundError as e: print(e)
print(utc.astimezone(Fixed(5.5, "XST")), utc == utc.astimezone(Fixed(-3, "Y")), clock(7, 30) < clock(8), clock(23, 59).isoformat("minutes"))
for bad in (lambda: date(2023, 2, 29), lambda: datetime.strptime("x", "%Y"), lambda: d - utc, lambda: date.fromisoformat("1.1.2020"), lambda: d < utc):
    try: bad()
    except (ValueError, TypeError) as e: print(type(e).__name__, e)
print(calendar.month(2024, 2), end="")
print(calendar.monthrange(2023, 2), calendar.isleap(1900), calendar.leapdays(2000, 2021), calendar.day_abbr[calendar.weekday(2024, 7, 4)], list(calendar.month_name)[1:3])
c = calendar.TextCalendar(calendar.SUNDAY)
print(c.formatmonth(2024, 9, w=3).splitlines()[1], [w[0] for w in c.monthdayscalendar(2024, 9)], next(c.itermonthdates(2024, 9)))
print(time.strftime("%Y-%m-%d", time.gmtime(0)), time.strptime("2020", "%Y").tm_year, calendar.timegm((1970, 1, 2, 0, 0, 0)), datetime.fromtimestamp(86400, timezone.utc))
x = Deadline(2024, 5, 1, label="tax")
print(f"{x} {x:%Y}", x - date(2024, 4, 1), sorted([x, date(2023, 1, 1)])[0], isinstance(x, date), x.label, (x + timedelta(1)).__class__.__name__)
print(max(date(2024, m, 1) for m in range(1, 13)).strftime("%b"), {date(2024, 1, 1): "new year"}[date(2024, 1, 1)], repr(timedelta(hours=3)), datetime.min, date.max)
