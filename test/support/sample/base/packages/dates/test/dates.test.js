import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as dates from '../src/index.js';

const date = dates.parseDate;

test('dates are read strictly', () => {
  assert.deepEqual(date('2024-02-29'), { year: 2024, month: 2, day: 29 });
  assert.throws(() => date('2023-02-29'), /no such day/);
  assert.throws(() => date('29.2.2024'), /not a date/);
});

test('days and months are added', () => {
  assert.deepEqual(dates.addDays(date('2024-02-28'), 2), date('2024-03-01'));
  assert.deepEqual(dates.addMonths(date('2024-01-31'), 1), date('2024-02-29'));
  assert.equal(dates.daysBetween(date('2024-01-01'), date('2025-01-01')), 366);
});

test('weeks follow ISO 8601', () => {
  assert.equal(dates.weekday(date('2026-11-29')), 7);
  assert.deepEqual(dates.isoWeek(date('2027-01-01')), { year: 2026, week: 53 });
});

test('dates are written', () => {
  assert.equal(dates.formatDate(date('2026-02-03')), '2026-02-03');
  assert.equal(dates.formatDate(date('2026-02-03'), 'short'), '3 Feb 2026');
  assert.equal(dates.formatDate(date('2026-02-03'), 'german'), '03.02.2026');
});

test('the shop is closed on holidays', () => {
  assert.equal(dates.isBusinessDay(date('2026-04-03')), false);
  assert.deepEqual(dates.addBusinessDays(date('2026-04-02'), 1), date('2026-04-07'));
  assert.equal([...dates.eachDay(date('2026-01-30'), date('2026-02-02'))].length, 4);
});
