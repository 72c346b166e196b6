class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees

    @property
    def degrees(self):
        return self._degrees

    @degrees.setter
    def degrees(self, value):
        if value < -273.15:
            raise ValueError("below absolute zero")
        self._degrees = value

    def __add__(self, other):
        return Celsius(self.degrees + other.degrees)

    def __repr__(self):
        return f"{self._degrees}°C"


print(Celsius(20) + Celsius(3))
print([Celsius(x) for x in (1, -300)])
