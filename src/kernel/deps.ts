/**
 * Dependencies of roles and their tools: connections, clients, settings. A program declares its own:
 *
 * `declare module "troupe" { interface Deps { readonly db: Database } }`
 *
 * Given to a team or an environment as `deps`, read as `ctx.deps`, and never recorded. Calls of them belong in a step, which records the
 * answer.
 */
export interface Deps {}
