/**
 * Dependencies of roles and their tools: connections, clients, settings. Empty until a program declares its own:
 *
 * `declare module "troupe" { interface Deps { readonly db: Database } }`
 *
 * Given to a team or an environment as `deps`, and read as `ctx.deps`. They are never recorded: a run is resumed, replayed and forked with
 * the dependencies given then. Calls of them belong in a step, which records the answer.
 */
export interface Deps {}
