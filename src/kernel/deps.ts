/**
 * Dependencies of roles and their tools: connections, clients, settings. A program declares its own:
 *
 * `declare module "troupe" { interface Deps { readonly db: Database } }`
 *
 * Given to a team or an environment as `deps`, read as `ctx.deps`, and never recorded. Calls of them belong in a step, which records the
 * answer.
 */
export interface Deps {}

/**
 * Values of one run for its roles and their tools: a user's session, a connection, a request. A program declares its own:
 *
 * `declare module "troupe" { interface RunContext { readonly session: Session } }`
 *
 * Given to `run`, `resume`, `fork`, `replay` and `conversation` as `context`, read as `ctx.context`, and never recorded, so it is given again to each of
 * them. Calls of it belong in a step, which records the answer.
 */
export interface RunContext {}
