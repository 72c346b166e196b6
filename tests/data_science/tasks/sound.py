import unittest
import numpy as np
import matplotlib.pyplot as plt
from scipy.fft import fft
from scipy.io import wavfile
from scipy.signal import spectrogram, get_window
import os

def task_func(audio_file, sr, data):
    wavfile.write(audio_file, sr, data)
    rate, x = wavfile.read(audio_file)
    f, t, Sxx = spectrogram(x, rate)
    fig, ax = plt.subplots()
    ax.pcolormesh(t, f, 10 * np.log10(Sxx + 1e-12), shading='gouraud')
    ax.set_ylabel('Frequency [Hz]')
    return rate, x, ax

class TestCases(unittest.TestCase):
    def setUp(self):
        self.name = 'a.wav'
        t = np.arange(8000) / 8000
        self.data = (np.sin(2 * np.pi * 440 * t) * 32767).astype(np.int16)
    def tearDown(self):
        if os.path.exists(self.name):
            os.remove(self.name)
    def test_rate(self):
        r, x, ax = task_func(self.name, 8000, self.data)
        self.assertEqual(r, 8000)
        np.testing.assert_array_equal(x, self.data)
    def test_label(self):
        self.assertEqual(task_func(self.name, 8000, self.data)[2].get_ylabel(), 'Frequency [Hz]')
    def test_fft(self):
        spec = np.abs(fft(self.data.astype(float)))
        self.assertEqual(np.argmax(spec[:4000]), 440)
    def test_np(self):
        self.assertEqual(np.argmax(np.abs(np.fft.rfft(self.data))), 440)

if __name__ == '__main__':
    unittest.main()
