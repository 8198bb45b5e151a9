import { ControlError } from "../kernel/errors.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { type Presence, presenceIn, type PresenceOptions } from "./postgres-persistent-connection.ts";
import { errorsOf, type PostgresPart } from "./postgres-server.ts";

/** The channel on which processes are notified that a budget or a limit has changed; the payload is its name. */
const sharedChannel = (schema: string): string => `${schema}_shared`;

export function sharedPresence(db: PostgresDatabase, heard: PresenceOptions["heard"]): Presence {
  const held = `DELETE FROM ${db.schema}.missing_holders WHERE holder = $1`;
  return presenceIn(db, { channel: () => sharedChannel(db.server.schema), heard, held });
}

/** Returns the tables of shared budgets and limits. Their errors are interruptions, so a run can be resumed after one. */
export function sharedPart(prefix: "BUDGET" | "LIMITS"): PostgresPart {
  return {
    name: "shared budgets and limits",
    version: 1,
    tables: (schema) =>
      [BUDGETS, LIMITS]
        .join("\n")
        .replaceAll("$s", schema)
        .replaceAll("$channel", sharedChannel(schema.slice(1, -1))),
    error: errorsOf(prefix, ControlError),
  };
}

/*
 * Each function is one piece of work under the lock of one row, that of its budget or its limit, so that a process asks the server once. A
 * holder is the number of the lock of a process. It is gone when the lock was free for five seconds: a living process connects again within
 * them after a restart of the server.
 *
 * Amounts are micro-dollars. `spent` of a budget includes lost holds: those of calls whose end is unknown, and those whose process is gone or
 * has closed the account. A lost hold of an open account has a holder while its call may be repeated, until the account asks for something
 * else. While the call is repeated, the amount is held.
 */
const BUDGETS = `
CREATE TABLE $s.missing_holders (holder bigint PRIMARY KEY, since timestamptz NOT NULL);

CREATE FUNCTION $s.holder_is_gone(asked bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  first_seen timestamptz;
BEGIN
  IF NOT pg_try_advisory_xact_lock_shared(asked) THEN
    DELETE FROM $s.missing_holders WHERE holder = asked;
    RETURN false;
  END IF;
  INSERT INTO $s.missing_holders VALUES (asked, clock_timestamp()) ON CONFLICT DO NOTHING;
  SELECT since INTO first_seen FROM $s.missing_holders WHERE holder = asked;
  IF first_seen IS NULL OR first_seen > clock_timestamp() - interval '5 seconds' THEN
    RETURN false;
  END IF;
  DELETE FROM $s.missing_holders WHERE holder = asked;
  RETURN true;
END $$;

CREATE FUNCTION $s.tell_of(named text) RETURNS void LANGUAGE sql AS $$ SELECT pg_notify('$channel', named) $$;

CREATE TABLE $s.budgets (
  name text PRIMARY KEY, amount bigint NOT NULL, spent bigint NOT NULL DEFAULT 0, held bigint NOT NULL DEFAULT 0
);
CREATE TABLE $s.budget_accounts (
  budget text NOT NULL, account text NOT NULL, opening uuid NOT NULL, spent bigint NOT NULL, PRIMARY KEY (budget, account)
);
CREATE TABLE $s.budget_holds (
  id uuid PRIMARY KEY, budget text NOT NULL, account text NOT NULL, opening uuid NOT NULL, holder bigint NOT NULL, amount bigint NOT NULL,
  is_lost boolean NOT NULL DEFAULT false
);
CREATE INDEX budget_holds_of ON $s.budget_holds (budget, account);

CREATE FUNCTION $s.change_budget(named text, spent_more bigint, held_more bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF spent_more = 0 AND held_more = 0 THEN RETURN; END IF;
  UPDATE $s.budgets SET spent = spent + spent_more, held = held + held_more WHERE name = named;
  IF spent_more <> 0 OR held_more < 0 THEN PERFORM $s.tell_of(named); END IF;
END $$;

CREATE FUNCTION $s.lose_budget_amounts(
  in_budget text, of_account text, by_opening uuid, by_holder bigint, ids uuid[], amounts bigint[]
) RETURNS bigint LANGUAGE sql AS $$
  WITH fresh AS (
    INSERT INTO $s.budget_holds
    SELECT one.id, in_budget, of_account, by_opening, by_holder, one.amount, true FROM unnest(ids, amounts) AS one (id, amount)
    ON CONFLICT DO NOTHING RETURNING amount
  )
  SELECT coalesce(sum(amount), 0)::bigint FROM fresh
$$;

CREATE FUNCTION $s.open_budget_account(
  in_budget text, of_account text, by_opening uuid, total bigint, lost_ids uuid[], lost_amounts bigint[], by_holder bigint
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  fresh bigint;
  was bigint;
  live bigint;
  lost bigint;
BEGIN
  PERFORM FROM $s.budgets WHERE name = in_budget FOR UPDATE;
  WITH gone AS (
    DELETE FROM $s.budget_holds WHERE budget = in_budget AND account = of_account AND opening <> by_opening RETURNING amount, is_lost
  )
  SELECT coalesce(sum(amount) FILTER (WHERE NOT is_lost), 0), coalesce(sum(amount) FILTER (WHERE is_lost), 0) INTO live, lost FROM gone;
  INSERT INTO $s.budget_accounts VALUES (in_budget, of_account, by_opening, 0) ON CONFLICT DO NOTHING;
  SELECT spent INTO was FROM $s.budget_accounts WHERE budget = in_budget AND account = of_account;
  UPDATE $s.budget_accounts SET spent = greatest(was, total), opening = by_opening WHERE budget = in_budget AND account = of_account;
  fresh := $s.lose_budget_amounts(in_budget, of_account, by_opening, by_holder, lost_ids, lost_amounts);
  PERFORM $s.change_budget(in_budget, greatest(total - was, 0) - lost + fresh, -live);
  RETURN greatest(was, total);
END $$;

CREATE FUNCTION $s.reserve_budget(
  in_budget text, of_account text, by_opening uuid, by_holder bigint, as_id uuid, asked bigint, repeats uuid[],
  OUT state text, OUT amount bigint, OUT spent bigint, OUT held bigint
) LANGUAGE plpgsql AS $$
DECLARE
  room bigint;
  repeatable bigint;
  lost bigint;
  more bigint;
BEGIN
  SELECT b.amount, b.spent, b.held INTO amount, spent, held FROM $s.budgets b WHERE b.name = in_budget FOR UPDATE;
  IF EXISTS (SELECT FROM $s.budget_holds h WHERE h.id = as_id) THEN
    state := 'held';
  ELSIF by_opening IS DISTINCT FROM (SELECT a.opening FROM $s.budget_accounts a WHERE a.budget = in_budget AND a.account = of_account) THEN
    state := 'taken';
  ELSE
    UPDATE $s.budget_holds h SET holder = 0
      WHERE h.budget = in_budget AND h.account = of_account AND h.is_lost AND h.holder <> 0 AND h.id <> ALL (repeats);
    UPDATE $s.budget_holds h SET holder = by_holder WHERE h.id = ANY (repeats) AND h.is_lost;
    SELECT coalesce(sum(h.amount), 0) INTO room FROM $s.budget_holds h WHERE h.id = ANY (repeats) AND h.is_lost;
    SELECT coalesce(sum(h.amount), 0) INTO repeatable FROM $s.budget_holds h
      WHERE h.budget = in_budget AND h.is_lost AND h.holder <> 0 AND NOT $s.holder_is_gone(h.holder);
    SELECT coalesce(sum(h.amount), 0) INTO lost FROM $s.budget_holds h WHERE h.budget = in_budget AND h.is_lost;
    IF spent + held + asked <= amount THEN
      more := asked;
    ELSIF spent + asked > amount AND room > 0 AND (
      spent + held + greatest(asked - room, 0) <= amount OR (room >= asked AND spent - lost + held + asked <= amount)
    ) THEN
      more := greatest(asked - room, 0);
    END IF;
    IF more IS NOT NULL THEN
      UPDATE $s.budget_holds h SET is_lost = false WHERE h.id = ANY (repeats) AND h.is_lost;
      INSERT INTO $s.budget_holds VALUES (as_id, in_budget, of_account, by_opening, by_holder, more);
      PERFORM $s.change_budget(in_budget, -room, more + room);
      state := 'held';
    ELSIF spent + asked > amount AND (spent - repeatable + asked > amount OR (room > 0 AND held = 0)) THEN
      state := 'refused';
    ELSE
      state := 'waits';
    END IF;
  END IF;
END $$;

CREATE FUNCTION $s.state_budget_account(
  in_budget text, of_account text, by_opening uuid, total bigint, settled uuid[], ends text, lost_ids uuid[], lost_amounts bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  was bigint;
  live bigint;
  lost bigint;
  left_open bigint := 0;
  fresh bigint := 0;
BEGIN
  PERFORM FROM $s.budgets WHERE name = in_budget FOR UPDATE;
  IF EXISTS (SELECT FROM $s.budget_accounts WHERE budget = in_budget AND account = of_account AND opening = by_opening) THEN
    fresh := $s.lose_budget_amounts(in_budget, of_account, by_opening, 0, lost_ids, lost_amounts);
  END IF;
  WITH gone AS (DELETE FROM $s.budget_holds WHERE id = ANY (settled) RETURNING amount, is_lost)
  SELECT coalesce(sum(amount) FILTER (WHERE NOT is_lost), 0), coalesce(sum(amount) FILTER (WHERE is_lost), 0) INTO live, lost FROM gone;
  SELECT spent INTO was FROM $s.budget_accounts WHERE budget = in_budget AND account = of_account AND opening = by_opening;
  IF FOUND THEN
    UPDATE $s.budget_accounts SET spent = greatest(was, total) WHERE budget = in_budget AND account = of_account;
    IF ends IS NOT NULL THEN
      WITH gone AS (
        UPDATE $s.budget_holds SET is_lost = true WHERE budget = in_budget AND account = of_account AND NOT is_lost RETURNING amount
      )
      SELECT coalesce(sum(amount), 0) INTO left_open FROM gone;
      UPDATE $s.budget_holds SET holder = 0 WHERE budget = in_budget AND account = of_account AND is_lost;
    END IF;
    IF ends = 'done' THEN
      DELETE FROM $s.budget_holds WHERE budget = in_budget AND account = of_account;
      DELETE FROM $s.budget_accounts WHERE budget = in_budget AND account = of_account;
    END IF;
  END IF;
  PERFORM $s.change_budget(in_budget, greatest(total - coalesce(was, total), 0) - lost + left_open + fresh, -live - left_open);
END $$;

CREATE FUNCTION $s.lose_budget_holds(in_budget text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  asked bigint;
  gone bigint;
BEGIN
  PERFORM FROM $s.budgets WHERE name = in_budget FOR UPDATE;
  FOR asked IN SELECT DISTINCT holder FROM $s.budget_holds WHERE budget = in_budget AND NOT is_lost ORDER BY holder LOOP
    CONTINUE WHEN NOT $s.holder_is_gone(asked);
    WITH lost AS (
      UPDATE $s.budget_holds SET is_lost = true WHERE budget = in_budget AND holder = asked AND NOT is_lost RETURNING amount
    )
    SELECT coalesce(sum(amount), 0) INTO gone FROM lost;
    PERFORM $s.change_budget(in_budget, gone, -gone);
  END LOOP;
END $$;
`;

/*
 * Times are those of the server. The first of those that wait keeps its place for two seconds after the time at which it is to ask again;
 * those behind it ask every 50 ms. A call that begins late renews its use: it has its place already, so it waits for time only.
 */
const LIMITS = `
CREATE TABLE $s.limits (name text PRIMARY KEY, first uuid, first_until timestamptz);
CREATE TABLE $s.limit_uses (
  id uuid PRIMARY KEY, limits text NOT NULL, holder bigint NOT NULL, counts_from timestamptz NOT NULL, tokens bigint NOT NULL,
  in_flight boolean NOT NULL
);
CREATE INDEX limit_uses_of ON $s.limit_uses (limits, counts_from);
CREATE INDEX limit_uses_in_flight ON $s.limit_uses (limits) WHERE in_flight;

CREATE FUNCTION $s.lose_limit_uses(of_limits text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  asked bigint;
BEGIN
  FOR asked IN SELECT DISTINCT holder FROM $s.limit_uses WHERE limits = of_limits AND in_flight ORDER BY holder LOOP
    CONTINUE WHEN NOT $s.holder_is_gone(asked);
    UPDATE $s.limit_uses SET in_flight = false WHERE limits = of_limits AND holder = asked;
  END LOOP;
END $$;

CREATE FUNCTION $s.wait_for_rates(
  of_limits text, moment timestamptz, asked bigint, within float8[], most_requests float8[], most_tokens float8[]
) RETURNS float8 LANGUAGE sql AS $$
  SELECT coalesce(max(greatest(extract(epoch FROM oldest - moment) * 1000 + rate.ms, 1)), 0)::float8
  FROM unnest(within, most_requests, most_tokens) AS rate (ms, requests, most), LATERAL (
    SELECT count(*) AS used, coalesce(sum(tokens), 0) AS used_tokens, min(counts_from) AS oldest FROM $s.limit_uses
    WHERE limits = of_limits AND counts_from > moment - rate.ms * interval '1 millisecond'
  ) AS uses
  WHERE used > 0 AND (used >= rate.requests OR used_tokens + asked > rate.most)
$$;

CREATE FUNCTION $s.take_limit(
  of_limits text, as_id uuid, by_holder bigint, asked bigint, slack float8, at_once float8,
  within float8[], most_requests float8[], most_tokens float8[]
) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  it $s.limits;
  moment timestamptz;
  wait float8 := 0;
BEGIN
  INSERT INTO $s.limits (name) VALUES (of_limits) ON CONFLICT DO NOTHING;
  SELECT * INTO it FROM $s.limits WHERE name = of_limits FOR UPDATE;
  moment := clock_timestamp();
  IF EXISTS (SELECT FROM $s.limit_uses WHERE id = as_id) THEN RETURN 0; END IF;
  DELETE FROM $s.limit_uses WHERE limits = of_limits AND counts_from < moment - interval '1 minute' AND NOT in_flight;
  IF at_once IS NOT NULL AND (SELECT count(*) FROM $s.limit_uses WHERE limits = of_limits AND in_flight) >= at_once THEN
    PERFORM $s.lose_limit_uses(of_limits);
    IF (SELECT count(*) FROM $s.limit_uses WHERE limits = of_limits AND in_flight) >= at_once THEN wait := 1000; END IF;
  END IF;
  wait := greatest(wait, $s.wait_for_rates(of_limits, moment, asked, within, most_requests, most_tokens));
  IF it.first <> as_id AND it.first_until > moment THEN
    RETURN greatest(wait, 50);
  ELSIF wait > 0 THEN
    UPDATE $s.limits SET first = as_id, first_until = moment + (wait + 2000) * interval '1 millisecond' WHERE name = of_limits;
    RETURN wait;
  END IF;
  INSERT INTO $s.limit_uses VALUES (as_id, of_limits, by_holder, moment + slack * interval '1 millisecond', asked, at_once IS NOT NULL);
  IF it.first IS NOT NULL THEN
    UPDATE $s.limits SET first = NULL WHERE name = of_limits;
    PERFORM $s.tell_of(of_limits);
  END IF;
  RETURN 0;
END $$;

CREATE FUNCTION $s.leave_limit(of_limits text, as_id uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM $s.limits WHERE name = of_limits FOR UPDATE;
  DELETE FROM $s.limit_uses WHERE id = as_id;
  UPDATE $s.limits SET first = NULL WHERE name = of_limits AND first = as_id;
  PERFORM $s.tell_of(of_limits);
END $$;

CREATE FUNCTION $s.release_limit(of_limits text, as_id uuid, used_tokens bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM $s.limits WHERE name = of_limits FOR UPDATE;
  UPDATE $s.limit_uses SET in_flight = false, tokens = coalesce(used_tokens, tokens) WHERE id = as_id;
  PERFORM $s.tell_of(of_limits);
END $$;

-- A use that is gone was given back, and has no place any more.
CREATE FUNCTION $s.renew_limit(
  of_limits text, as_id uuid, by_holder bigint, asked bigint, slack float8,
  within float8[], most_requests float8[], most_tokens float8[]
) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz;
  wait float8;
BEGIN
  PERFORM FROM $s.limits WHERE name = of_limits FOR UPDATE;
  moment := clock_timestamp();
  UPDATE $s.limit_uses SET counts_from = '-infinity' WHERE id = as_id;
  wait := $s.wait_for_rates(of_limits, moment, asked, within, most_requests, most_tokens);
  IF wait > 0 THEN RETURN wait; END IF;
  INSERT INTO $s.limit_uses VALUES (as_id, of_limits, by_holder, moment + slack * interval '1 millisecond', asked, false)
    ON CONFLICT (id) DO UPDATE SET counts_from = excluded.counts_from;
  RETURN 0;
END $$;
`;
