/** What is accepted although it is wrong, with the reason why it does no harm. */
export const harmless: Readonly<Record<string, string>> = {
  "Team.hire 1.name null": "no name: the role is hired under its own",
  "traceRun 0.0 5": "an event that cannot be traced is told to OpenTelemetry's logger: a trace must not end what it traces",
  "traceRun 0.0 null": "the same",
  "traceRun 0.0 [5]": "the same",
};
