import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as collections from '../src/index.js';

test('lists are cut, counted, sorted and made unique', () => {
  assert.deepEqual(collections.chunk([1, 2, 3], 2), [[1, 2], [3]]);
  assert.throws(() => collections.chunk([], 0), RangeError);
  assert.deepEqual(
    [...collections.countBy(['a', 'bb', 'c'], (word) => word.length)],
    [
      [1, 2],
      [2, 1],
    ],
  );
  assert.deepEqual(
    collections.sortBy([{ a: 2 }, { a: 1 }], (item) => item.a),
    [{ a: 1 }, { a: 2 }],
  );
  assert.deepEqual(
    collections.uniqueBy(['a', 'b', 'A'], (word) => word.toLowerCase()),
    ['a', 'b'],
  );
});

test('a deque gives from both ends', () => {
  const deque = new collections.Deque();
  deque.push(1);
  deque.push(2);
  deque.unshift(0);
  assert.deepEqual([deque.pop(), deque.shift(), deque.size], [2, 0, 1]);
});

test('a ring buffer keeps the last items', () => {
  const ring = new collections.RingBuffer(2);
  for (const item of [1, 2, 3]) ring.push(item);
  assert.deepEqual([...ring], [2, 3]);
});

test('a cache forgets what was not used', () => {
  const cache = new collections.LruCache(2);
  cache.set('a', 1).set('b', 2);
  cache.get('a');
  cache.set('c', 3);
  assert.deepEqual([cache.get('a'), cache.get('b'), cache.size], [1, undefined, 2]);
});

test('a priority queue sorts', () => {
  const queue = new collections.PriorityQueue();
  for (const item of [3, 1, 2]) queue.push(item);
  assert.deepEqual([queue.pop(), queue.pop(), queue.pop(), queue.pop()], [1, 2, 3, undefined]);
});

test('connections and orders', () => {
  const sets = new collections.DisjointSets();
  sets.join('a', 'b');
  assert.equal(sets.connected('a', 'b'), true);
  assert.equal(sets.connected('a', 'c'), false);
  const order = collections.topologicalOrder(
    new Map([
      ['cup', ['tea']],
      ['tea', ['water']],
    ]),
  );
  assert.deepEqual(order, ['water', 'tea', 'cup']);
  assert.throws(() => collections.topologicalOrder(new Map([['a', ['a']]])), /cycle: a -> a/);
});

test('tries and multi maps', () => {
  const trie = new collections.Trie();
  for (const word of ['tea', 'ten', 'to']) trie.add(word);
  assert.deepEqual(trie.startingWith('te'), ['tea', 'ten']);
  assert.deepEqual(new collections.MultiMap().add('a', 1).add('a', 2).get('a'), [1, 2]);
});
