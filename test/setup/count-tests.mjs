/**
 * Counts of vitest's JSON report. A file that could not be loaded has no tests and counts as one failure; so does
 * a run that ended badly with no failed test (an unhandled rejection, a crash, no report at all).
 */
export function countTests(exitCode, report) {
  const files = report?.testResults ?? [];
  const unloaded = files.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  ).length;
  const passed = report?.numPassedTests ?? 0;
  const failed = (report?.numFailedTests ?? 0) + unloaded;
  const skipped = (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0);
  return { passed, failed: failed === 0 && exitCode !== 0 ? 1 : failed, skipped };
}
