export declare const STEPS: readonly string[];

interface Report {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly { readonly status: string }[] }[];
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export declare function tally(report: Report | undefined, exitCode: number | null): Counts;

export declare function verify(
  run: (step: string, report: string) => { readonly status: number | null; readonly stdout?: string },
  write: (words: string) => void,
): Counts;
