/** Wrong values that are accepted, each with the reason why it does no harm. */
export const harmless: Readonly<Record<string, string>> = {
  "Team.hire 1.name null": "no name: the role is hired under its own",
  "new Net 0.unheardOf 1": "a net is an object of its author",
  "messageRows 1.columns.unheardOf 1": "a column has any name",
  "RunClient.start 0.unheardOf 1": "the server refuses it, and no server is asked here",
  "RunClient.resume 1.unheardOf 1": "the same",
  "RunClient.fork 1.unheardOf 1": "the same",
  "RunClient.forget 0.unheardOf 1": "the same",
  "traceRun 0.0 5": "an event that cannot be traced is told to OpenTelemetry's logger: a trace must not end what it traces",
  "traceRun 0.0 null": "the same",
  "traceRun 0.0 [5]": "the same",
  "openai 0.extra.unheardOf 1": "members that this package does not know are what it is for",
};
