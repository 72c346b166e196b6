import asyncio
import unittest
from unittest.mock import AsyncMock, patch
import time

async def fetch(i):
    await asyncio.sleep(0.001)
    return i * 2

async def task_func(n):
    if n < 0:
        raise ValueError('negative')
    return await asyncio.gather(*(fetch(i) for i in range(n)))

class TestAsync(unittest.IsolatedAsyncioTestCase):
    async def test_gather(self):
        self.assertEqual(await task_func(3), [0, 2, 4])
    async def test_neg(self):
        with self.assertRaises(ValueError):
            await task_func(-1)
    async def test_mock(self):
        with patch('__main__.fetch', new_callable=AsyncMock, return_value=9):
            self.assertEqual(await task_func(2), [9, 9])
    async def test_timeout(self):
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.sleep(10), timeout=0.01)

class TestSync(unittest.TestCase):
    def test_run(self):
        self.assertEqual(asyncio.run(task_func(2)), [0, 2])
    def test_loop(self):
        loop = asyncio.new_event_loop()
        self.assertEqual(loop.run_until_complete(task_func(1)), [0])
        loop.close()

if __name__ == '__main__':
    unittest.main()
