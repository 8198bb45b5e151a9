/*
 * The tables of shared budgets, and their functions: see `postgres-shared-tables.ts`. Amounts are micro-dollars.
 *
 * `spent` of a budget has the amounts of lost holds too: those of calls whose end is unknown, and those whose process is gone or has closed the
 * account. A lost hold of an open account has a holder while its call may be about to be repeated: until the account asks for something else. While it is
 * repeated, it is held.
 */

/** Returns the statements that make them. @param s the quoted name of the schema */
export function budgetTables(s: string): string {
  return [tables(s), changeBudget(s), lose(s), openAccount(s), reserve(s), stateAccount(s), loseHolds(s)].join("");
}

function tables(s: string): string {
  return `
CREATE TABLE ${s}.budgets (
  name text PRIMARY KEY, amount bigint NOT NULL, spent bigint NOT NULL DEFAULT 0, held bigint NOT NULL DEFAULT 0
);
CREATE TABLE ${s}.budget_accounts (
  budget text NOT NULL, account text NOT NULL, opening uuid NOT NULL, spent bigint NOT NULL, PRIMARY KEY (budget, account)
);
CREATE TABLE ${s}.budget_holds (
  id uuid PRIMARY KEY, budget text NOT NULL, account text NOT NULL, opening uuid NOT NULL, holder bigint NOT NULL, amount bigint NOT NULL,
  is_lost boolean NOT NULL DEFAULT false
);
CREATE INDEX budget_holds_of ON ${s}.budget_holds (budget, account);
`;
}

function changeBudget(s: string): string {
  return `
CREATE FUNCTION ${s}.change_budget(named text, spent_more bigint, held_more bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF spent_more = 0 AND held_more = 0 THEN RETURN; END IF;
  UPDATE ${s}.budgets SET spent = spent + spent_more, held = held + held_more WHERE name = named;
  IF spent_more <> 0 OR held_more < 0 THEN PERFORM ${s}.tell_of(named); END IF;
END $$;
`;
}

function lose(s: string): string {
  return `
CREATE FUNCTION ${s}.lose_budget_amounts(
  in_budget text, of_account text, by_opening uuid, by_holder bigint, ids uuid[], amounts bigint[]
) RETURNS bigint LANGUAGE sql AS $$
  WITH fresh AS (
    INSERT INTO ${s}.budget_holds
    SELECT one.id, in_budget, of_account, by_opening, by_holder, one.amount, true FROM unnest(ids, amounts) AS one (id, amount)
    ON CONFLICT DO NOTHING RETURNING amount
  )
  SELECT coalesce(sum(amount), 0)::bigint FROM fresh
$$;
`;
}

function openAccount(s: string): string {
  return `
CREATE FUNCTION ${s}.open_budget_account(
  in_budget text, of_account text, by_opening uuid, total bigint, lost_ids uuid[], lost_amounts bigint[], by_holder bigint
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  fresh bigint;
  was bigint;
  live bigint;
  lost bigint;
BEGIN
  PERFORM FROM ${s}.budgets WHERE name = in_budget FOR UPDATE;
  WITH gone AS (
    DELETE FROM ${s}.budget_holds WHERE budget = in_budget AND account = of_account AND opening <> by_opening RETURNING amount, is_lost
  )
  SELECT coalesce(sum(amount) FILTER (WHERE NOT is_lost), 0), coalesce(sum(amount) FILTER (WHERE is_lost), 0) INTO live, lost FROM gone;
  INSERT INTO ${s}.budget_accounts VALUES (in_budget, of_account, by_opening, 0) ON CONFLICT DO NOTHING;
  SELECT spent INTO was FROM ${s}.budget_accounts WHERE budget = in_budget AND account = of_account;
  UPDATE ${s}.budget_accounts SET spent = greatest(was, total), opening = by_opening WHERE budget = in_budget AND account = of_account;
  fresh := ${s}.lose_budget_amounts(in_budget, of_account, by_opening, by_holder, lost_ids, lost_amounts);
  PERFORM ${s}.change_budget(in_budget, greatest(total - was, 0) - lost + fresh, -live);
  RETURN greatest(was, total);
END $$;
`;
}

function reserve(s: string): string {
  return `
CREATE FUNCTION ${s}.reserve_budget(
  in_budget text, of_account text, by_opening uuid, by_holder bigint, as_id uuid, asked bigint, repeats uuid[],
  OUT state text, OUT amount bigint, OUT spent bigint, OUT held bigint
) LANGUAGE plpgsql AS $$
DECLARE
  room bigint;
  repeatable bigint;
  lost bigint;
  more bigint;
BEGIN
  SELECT b.amount, b.spent, b.held INTO amount, spent, held FROM ${s}.budgets b WHERE b.name = in_budget FOR UPDATE;
  IF EXISTS (SELECT FROM ${s}.budget_holds h WHERE h.id = as_id) THEN
    state := 'held';
  ELSIF by_opening IS DISTINCT FROM (SELECT a.opening FROM ${s}.budget_accounts a WHERE a.budget = in_budget AND a.account = of_account) THEN
    state := 'taken';
  ELSE
    UPDATE ${s}.budget_holds h SET holder = 0
      WHERE h.budget = in_budget AND h.account = of_account AND h.is_lost AND h.holder <> 0 AND h.id <> ALL (repeats);
    UPDATE ${s}.budget_holds h SET holder = by_holder WHERE h.id = ANY (repeats) AND h.is_lost;
    SELECT coalesce(sum(h.amount), 0) INTO room FROM ${s}.budget_holds h WHERE h.id = ANY (repeats) AND h.is_lost;
    SELECT coalesce(sum(h.amount), 0) INTO repeatable FROM ${s}.budget_holds h
      WHERE h.budget = in_budget AND h.is_lost AND h.holder <> 0 AND NOT ${s}.holder_is_gone(h.holder);
    SELECT coalesce(sum(h.amount), 0) INTO lost FROM ${s}.budget_holds h WHERE h.budget = in_budget AND h.is_lost;
    IF spent + held + asked <= amount THEN
      more := asked;
    ELSIF spent + asked > amount AND room > 0 AND (
      spent + held + greatest(asked - room, 0) <= amount OR (room >= asked AND spent - lost + held + asked <= amount)
    ) THEN
      more := greatest(asked - room, 0);
    END IF;
    IF more IS NOT NULL THEN
      UPDATE ${s}.budget_holds h SET is_lost = false WHERE h.id = ANY (repeats) AND h.is_lost;
      INSERT INTO ${s}.budget_holds VALUES (as_id, in_budget, of_account, by_opening, by_holder, more);
      PERFORM ${s}.change_budget(in_budget, -room, more + room);
      state := 'held';
    ELSIF spent + asked > amount AND (spent - repeatable + asked > amount OR (room > 0 AND held = 0)) THEN
      state := 'refused';
    ELSE
      state := 'waits';
    END IF;
  END IF;
END $$;
`;
}

function stateAccount(s: string): string {
  return `
CREATE FUNCTION ${s}.state_budget_account(
  in_budget text, of_account text, by_opening uuid, total bigint, settled uuid[], ends text, lost_ids uuid[], lost_amounts bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  was bigint;
  live bigint;
  lost bigint;
  left_open bigint := 0;
  fresh bigint := 0;
BEGIN
  PERFORM FROM ${s}.budgets WHERE name = in_budget FOR UPDATE;
  IF EXISTS (SELECT FROM ${s}.budget_accounts WHERE budget = in_budget AND account = of_account AND opening = by_opening) THEN
    fresh := ${s}.lose_budget_amounts(in_budget, of_account, by_opening, 0, lost_ids, lost_amounts);
  END IF;
  WITH gone AS (DELETE FROM ${s}.budget_holds WHERE id = ANY (settled) RETURNING amount, is_lost)
  SELECT coalesce(sum(amount) FILTER (WHERE NOT is_lost), 0), coalesce(sum(amount) FILTER (WHERE is_lost), 0) INTO live, lost FROM gone;
  SELECT spent INTO was FROM ${s}.budget_accounts WHERE budget = in_budget AND account = of_account AND opening = by_opening;
  IF FOUND THEN
    UPDATE ${s}.budget_accounts SET spent = greatest(was, total) WHERE budget = in_budget AND account = of_account;
    IF ends IS NOT NULL THEN
      WITH gone AS (
        UPDATE ${s}.budget_holds SET is_lost = true WHERE budget = in_budget AND account = of_account AND NOT is_lost RETURNING amount
      )
      SELECT coalesce(sum(amount), 0) INTO left_open FROM gone;
      UPDATE ${s}.budget_holds SET holder = 0 WHERE budget = in_budget AND account = of_account AND is_lost;
    END IF;
    IF ends = 'done' THEN
      DELETE FROM ${s}.budget_holds WHERE budget = in_budget AND account = of_account;
      DELETE FROM ${s}.budget_accounts WHERE budget = in_budget AND account = of_account;
    END IF;
  END IF;
  PERFORM ${s}.change_budget(in_budget, greatest(total - coalesce(was, total), 0) - lost + left_open + fresh, -live - left_open);
END $$;
`;
}

function loseHolds(s: string): string {
  return `
CREATE FUNCTION ${s}.lose_budget_holds(in_budget text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  asked bigint;
  gone bigint;
BEGIN
  PERFORM FROM ${s}.budgets WHERE name = in_budget FOR UPDATE;
  FOR asked IN SELECT DISTINCT holder FROM ${s}.budget_holds WHERE budget = in_budget AND NOT is_lost ORDER BY holder LOOP
    CONTINUE WHEN NOT ${s}.holder_is_gone(asked);
    WITH lost AS (
      UPDATE ${s}.budget_holds SET is_lost = true WHERE budget = in_budget AND holder = asked AND NOT is_lost RETURNING amount
    )
    SELECT coalesce(sum(amount), 0) INTO gone FROM lost;
    PERFORM ${s}.change_budget(in_budget, gone, -gone);
  END LOOP;
END $$;
`;
}
