/*
 * The tables of shared limits, and their functions: see `postgres-shared-tables.ts`. Times are those of the server.
 */

/** Milliseconds after which those behind the first ask again, if nothing is told before. */
const AGAIN = 50;
/** Seconds for which the first of those who wait keeps its place after the time at which it was told to ask again. */
const FIRST_LATE = 2;

/** Returns the statements that make them. @param s the quoted name of the schema */
export function limitTables(s: string): string {
  return [tables(s), loseUses(s), take(s), leave(s), release(s)].join("");
}

function tables(s: string): string {
  return `
CREATE TABLE ${s}.limits (name text PRIMARY KEY, first uuid, first_until timestamptz);
CREATE TABLE ${s}.limit_uses (
  id uuid PRIMARY KEY, limits text NOT NULL, holder bigint NOT NULL, counts_from timestamptz NOT NULL, tokens bigint NOT NULL,
  in_flight boolean NOT NULL
);
CREATE INDEX limit_uses_of ON ${s}.limit_uses (limits, counts_from);
CREATE INDEX limit_uses_in_flight ON ${s}.limit_uses (limits) WHERE in_flight;
`;
}

function loseUses(s: string): string {
  return `
CREATE FUNCTION ${s}.lose_limit_uses(of_limits text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  asked bigint;
BEGIN
  FOR asked IN SELECT DISTINCT holder FROM ${s}.limit_uses WHERE limits = of_limits AND in_flight ORDER BY holder LOOP
    CONTINUE WHEN NOT ${s}.holder_is_gone(asked);
    UPDATE ${s}.limit_uses SET in_flight = false WHERE limits = of_limits AND holder = asked;
  END LOOP;
END $$;
`;
}

function take(s: string): string {
  return `
CREATE FUNCTION ${s}.take_limit(
  of_limits text, as_id uuid, by_holder bigint, asked bigint, slack float8, at_once float8,
  within float8[], most_requests float8[], most_tokens float8[]
) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  it ${s}.limits;
  moment timestamptz;
  wait float8 := 0;
  used bigint;
  used_tokens numeric;
  oldest timestamptz;
BEGIN
  INSERT INTO ${s}.limits (name) VALUES (of_limits) ON CONFLICT DO NOTHING;
  SELECT * INTO it FROM ${s}.limits WHERE name = of_limits FOR UPDATE;
  moment := clock_timestamp();
  IF EXISTS (SELECT FROM ${s}.limit_uses WHERE id = as_id) THEN RETURN 0; END IF;
  DELETE FROM ${s}.limit_uses WHERE limits = of_limits AND counts_from < moment - interval '1 minute' AND NOT in_flight;
  IF at_once IS NOT NULL AND (SELECT count(*) FROM ${s}.limit_uses WHERE limits = of_limits AND in_flight) >= at_once THEN
    PERFORM ${s}.lose_limit_uses(of_limits);
    IF (SELECT count(*) FROM ${s}.limit_uses WHERE limits = of_limits AND in_flight) >= at_once THEN wait := 1000; END IF;
  END IF;
${waitForRates(s)}  IF it.first <> as_id AND it.first_until > moment THEN
    RETURN greatest(wait, ${AGAIN});
  ELSIF wait > 0 THEN
    UPDATE ${s}.limits SET first = as_id, first_until = moment + (wait + ${FIRST_LATE * 1_000}) * interval '1 millisecond' WHERE name = of_limits;
    RETURN wait;
  END IF;
  INSERT INTO ${s}.limit_uses VALUES (as_id, of_limits, by_holder, moment + slack * interval '1 millisecond', asked, at_once IS NOT NULL);
  IF it.first IS NOT NULL THEN
    UPDATE ${s}.limits SET first = NULL WHERE name = of_limits;
    PERFORM ${s}.tell_of(of_limits);
  END IF;
  RETURN 0;
END $$;
`;
}

/** Returns the part of a function that lengthens its wait until every rate has room for the use. */
function waitForRates(s: string): string {
  return `  FOR n IN 1 .. coalesce(array_length(within, 1), 0) LOOP
    SELECT count(*), coalesce(sum(tokens), 0), min(counts_from) INTO used, used_tokens, oldest FROM ${s}.limit_uses
      WHERE limits = of_limits AND counts_from > moment - within[n] * interval '1 millisecond';
    IF used > 0 AND (used >= most_requests[n] OR used_tokens + asked > most_tokens[n]) THEN
      wait := greatest(wait, extract(epoch FROM oldest - moment) * 1000 + within[n], 1);
    END IF;
  END LOOP;
`;
}

function leave(s: string): string {
  return `
CREATE FUNCTION ${s}.leave_limit(of_limits text, as_id uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM ${s}.limits WHERE name = of_limits FOR UPDATE;
  DELETE FROM ${s}.limit_uses WHERE id = as_id;
  UPDATE ${s}.limits SET first = NULL WHERE name = of_limits AND first = as_id;
  PERFORM ${s}.tell_of(of_limits);
END $$;
`;
}

function release(s: string): string {
  return `
CREATE FUNCTION ${s}.release_limit(of_limits text, as_id uuid, used_tokens bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM ${s}.limits WHERE name = of_limits FOR UPDATE;
  UPDATE ${s}.limit_uses SET in_flight = false, tokens = coalesce(used_tokens, tokens) WHERE id = as_id;
  PERFORM ${s}.tell_of(of_limits);
END $$;
`;
}

/**
 * Returns the statement that makes the function by which a call that begins late renews its use. Calls that wait in line wait for places, and
 * a place is held here, so a renewal waits for no other call. A use that is gone was given back, and has no place any more.
 *
 * @param s the quoted name of the schema
 */
export function limitRenewal(s: string): string {
  return `
CREATE FUNCTION ${s}.renew_limit(
  of_limits text, as_id uuid, by_holder bigint, asked bigint, slack float8,
  within float8[], most_requests float8[], most_tokens float8[]
) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz;
  wait float8 := 0;
  used bigint;
  used_tokens numeric;
  oldest timestamptz;
BEGIN
  PERFORM FROM ${s}.limits WHERE name = of_limits FOR UPDATE;
  moment := clock_timestamp();
  UPDATE ${s}.limit_uses SET counts_from = '-infinity' WHERE id = as_id;
${waitForRates(s)}  IF wait > 0 THEN RETURN wait; END IF;
  INSERT INTO ${s}.limit_uses VALUES (as_id, of_limits, by_holder, moment + slack * interval '1 millisecond', asked, false)
    ON CONFLICT (id) DO UPDATE SET counts_from = excluded.counts_from;
  RETURN 0;
END $$;
`;
}
