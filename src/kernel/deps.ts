/**
 * What roles and their tools get from outside: connections, clients, settings. Empty until a program says what it has:
 *
 * `declare module "troupe" { interface Deps { readonly db: Database } }`
 *
 * Given to a team or an environment as `deps`, and found as `ctx.deps`. Never recorded, and no part of what a role is: a run goes on, is
 * replayed and forked with those that are given then. What is asked of them belongs into a step, which records the answer.
 */
export interface Deps {}
