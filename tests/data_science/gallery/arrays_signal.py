"""A filter, peaks and a spectrum."""

import numpy as np
from scipy import ndimage, signal

t = np.linspace(0, 1, 200, endpoint=False)
wave = np.sin(2 * np.pi * 5 * t) + 0.3 * np.sin(2 * np.pi * 50 * t)
b, a = signal.butter(3, 0.2)
print(signal.filtfilt(b, a, wave)[:3].round(6), signal.find_peaks(wave, height=1)[0])
print(ndimage.gaussian_filter(np.eye(5), 1).sum().round(6))
