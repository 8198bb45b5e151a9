/** What a user can repair. Anything else is a defect of rowtable. */
export class TableError extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.name = "TableError";
    this.exitCode = exitCode;
  }
}

/** The command line is wrong. */
export class UsageError extends TableError {
  constructor(message) {
    super(`${message}; see rowtable --help`, 2);
    this.name = "UsageError";
  }
}
