import type { Reporter, TestModule } from 'vitest/node';

/** Ends the output with `N passed, N failed, N skipped`, for people and programs that read only the last line. */
class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      const before = counts.failed;
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
      // A file that fails outside its tests has none to count.
      if (!module.ok() && counts.failed === before) counts.failed += 1;
    }
    const { passed, failed, skipped, pending } = counts;
    process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped + pending} skipped\n`);
  }
}

// vitest loads a reporter from the default export.
export default ClosingLineReporter;
