import { defineRole, type Role } from "../../../src/index.ts";
import { clerk, drawsOf, pass, plantedTeam, type PlantedTeam, speaker } from "./planted-teams.ts";

type Make = (n: number) => PlantedTeam;
const out: Role = defineRole({ name: "Out", watch: [], step: () => undefined });
const again = (n: number): number => [0, 0.1, 0.2, 0, 0.3][n] ?? 0;
const noise = (n: number): number => [0, 0.03, 0, 0.05, 0.02][n] ?? 0;

const pipeline: Make = (n) => {
  const length = 4 + n;
  const names = Array.from({ length }, (_, at) => `p${at}`);
  const at = 1 + drawsOf(`pipeline ${n}`).below(length - 2);
  return plantedTeam({
    ...{ name: `pipeline of ${length}`, cause: `p${at}#0`, typos: ["p0#0", `p${length - 1}#0`], again: again(n), noise: noise(n) },
    roles: [...names.map((name, one) => speaker(name, (answer, heard) => [[names[one + 1] ?? "Out", pass(answer, heard)]])), out],
    beginTo: ["p0"],
  });
};

const tree: Make = (n) => {
  const leaves = Array.from({ length: 6 }, (_, at) => `leaf${at}`);
  const mids = ["mid0", "mid1", "mid2"];
  const cause = [`leaf3#0`, `mid1#0`, `leaf5#0`, `mid2#0`, `leaf2#0`][n] as string;
  return plantedTeam({
    ...{ name: `tree, ${cause}`, cause, typos: ["leaf0#0", "leaf1#0", "mid0#0"], again: again(n), noise: noise(n) },
    roles: [
      ...leaves.map((name, at) => speaker(name, (answer, heard) => [[`mid${Math.floor(at / 2)}`, pass(answer, heard)]])),
      ...mids.map((name) => speaker(name, (answer, heard) => [["root", pass(answer, heard)]], { needs: 2 })),
      speaker("root", (answer, heard) => [["Out", pass(answer, heard)]], { needs: 3 }),
      out,
    ],
    beginTo: leaves,
  });
};

/** Two debate; what both say goes to a judge too, who decides at the end by all of it. */
const debate: Make = (n) => {
  const rounds = 2 + (n % 3);
  const cause = [`Con#0`, `Pro#1`, `Con#2`, `Judge#0`, `Pro#1`][n] as string;
  const says =
    (other: string, isLast: (turn: number) => boolean) =>
    (answer: string, _heard: readonly string[], turn: number): [string[], string][] => [
      [isLast(turn) ? ["Judge"] : [other, "Judge"], answer],
    ];
  return plantedTeam({
    ...{ name: `debate of ${rounds} rounds, ${cause}`, cause: cause === "Judge#0" ? `Judge#${2 * rounds - 1}` : cause },
    ...{ typos: ["Pro#0"], again: again(n), noise: noise(n) },
    roles: [
      speaker(
        "Pro",
        says("Con", () => false),
      ),
      speaker(
        "Con",
        says("Pro", (turn) => turn + 1 === rounds),
      ),
      speaker("Judge", (answer, heard) => [["Out", pass(answer, heard)]], { needs: 2 * rounds }),
      out,
    ],
    beginTo: ["Pro"],
  });
};

/** A board without a model asks one specialist after another, and shows each all posts. */
const blackboard: Make = (n) => {
  const names = ["Syntax", "Facts", "Style"];
  const posts = 6 + n;
  const at = 2 + drawsOf(`board ${n}`).below(posts - 3);
  const cause = `${names[at % 3]}#${Math.floor(at / 3)}`;
  return plantedTeam({
    ...{
      name: `blackboard of ${posts} posts, ${cause}`,
      cause,
      typos: ["Syntax#0", "Facts#0"].filter((one) => one !== cause),
      again: again(n),
      noise: noise(n),
    },
    roles: [
      clerk("Board", (heard, turn) => [[turn < posts ? (names[turn % 3] as string) : "Out", heard.slice(1).join(" / ")]]),
      ...names.map((name) => speaker(name, (answer) => [["Board", answer]])),
      out,
    ],
    beginTo: ["Board"],
  });
};

/** Two researchers brief five voters; a teller without a model counts. */
const vote: Make = (n) => {
  const voters = Array.from({ length: 5 }, (_, at) => `v${at}`);
  const causes = ["North#0", "North#0", "v0#0", "v2#0", "Chair#0"];
  const cause = causes[n] as string;
  const wrong = cause.startsWith("v") ? ["v3#0", "v4#0"] : cause === "North#0" ? ["v3#0"] : [];
  return plantedTeam({
    ...{
      name: `vote, ${cause}`,
      cause,
      typos: ["South#0", "v4#0"].filter((one) => !wrong.includes(one)),
      again: again(n),
      noise: noise(n) / 2,
    },
    // The voters that err anyway do not decide alone.
    usual: Object.fromEntries(wrong.map((act) => [act, ["bad", 0.9]])),
    roles: [
      speaker("North", (answer) => [[["v0", "v1", "v2"], answer]]),
      speaker("South", (answer) => [[["v3", "v4"], answer]]),
      ...voters.map((name) => speaker(name, (answer, heard) => [["Teller", pass(answer, heard)]])),
      clerk("Teller", (heard) => [["Chair", heard.filter((one) => one.includes("bad")).length > 2 ? "lost bad" : "won"]], 5),
      speaker("Chair", (answer, heard) => [["Out", pass(answer, heard)]]),
      out,
    ],
    beginTo: ["North", "South"],
  });
};

/** A planner leaves out a task, a worker errs, or the one who merges does. */
const planner: Make = (n) => {
  const cause = ["Planner#0", "w1#0", "w2#1", "Planner#0", "Merger#0"][n] as string;
  const workers = ["w0", "w1", "w2", "w3"];
  return plantedTeam({
    ...{
      name: `planner, ${cause}`,
      cause,
      harm: cause === "Planner#0" ? "omits" : "bad",
      again: again(n),
      noise: cause === "Planner#0" ? 0 : noise(n),
    },
    typos: ["Boss#0", "w0#0"],
    roles: [
      speaker("Boss", (answer) => [["Planner", answer]]),
      speaker("Planner", (answer) =>
        workers.map((name) => [name, answer.includes("omits") && name === "w3" ? "task shorter" : `task of ${answer} full`]),
      ),
      ...workers.map((name) =>
        speaker(name, (answer, heard, turn) => [
          [turn === 0 ? name : "Merger", pass(`${answer} ${heard.join(" ").includes("full") ? "full" : "part"}`, heard)],
        ]),
      ),
      speaker(
        "Merger",
        (answer, heard) => [["Out", pass(`${answer} ${heard.every((one) => one.includes("full")) ? "whole" : "gap"}`, heard)]],
        { needs: 4 },
      ),
      out,
    ],
    beginTo: ["Boss"],
    isRight: (last) => last.includes("whole") && !last.includes("bad"),
  });
};

/** A writer whose drafts have a defect until the last one, and a reviewer who accepts too early. */
const review: Make = (n) => {
  const early = 1 + (n % 3);
  const last = early + 2;
  const drafts = Array.from({ length: last }, (_, at) => [`Writer#${at}`, ["defect", 0.9]] as const);
  return plantedTeam({
    ...{
      name: `review accepted in round ${early}`,
      cause: `Reviewer#${early}`,
      harm: "accept",
      again: again(n),
      typos: [`Writer#${last}`, "Editor#0"],
    },
    usual: Object.fromEntries(drafts),
    roles: [
      speaker("Editor", (answer) => [["Writer", answer]]),
      speaker("Writer", (answer) => [["Reviewer", answer]]),
      speaker("Reviewer", (answer, heard, turn) => {
        const isGood = !heard.join(" ").includes("defect");
        return answer.includes("accept") || isGood || turn >= last ? [["Out", heard.join(" ")]] : [["Writer", `${answer} again`]];
      }),
      out,
    ],
    beginTo: ["Editor"],
    isRight: (text) => !text.includes("defect"),
  });
};

/** Two speak in turn about a number. */
const dialogue: Make = (n) => {
  const turns = 6 + 2 * n;
  const at = 1 + drawsOf(`dialogue ${n}`).below(turns - 2);
  const names = ["Ann", "Bob"];
  const cause = `${names[at % 2]}#${Math.floor(at / 2)}`;
  const of = (name: string, other: string, offset: number): Role =>
    speaker(name, (answer, heard, turn) => [[2 * turn + offset + 1 < turns ? other : "Out", pass(answer, heard)]]);
  return plantedTeam({
    ...{
      name: `dialogue of ${turns}, ${cause}`,
      cause,
      typos: ["Ann#0", `Bob#${turns / 2 - 1}`].filter((one) => one !== cause),
      again: again(n),
      noise: noise(n) / 2,
    },
    roles: [of("Ann", "Bob", 0), of("Bob", "Ann", 1), out],
    beginTo: ["Ann"],
  });
};

/** A guard reads each item, and says nothing about the one with smoke. The launch comes at the end. */
const guard: Make = (n) => {
  const items = 4 + n;
  const at = 1 + drawsOf(`guard ${n}`).below(items - 2);
  return plantedTeam({
    ...{
      name: `guard silent at item ${at} of ${items}`,
      cause: `Guard#${at}`,
      harm: "silent",
      again: again(n),
      typos: ["Feed#0", `Feed#${items - 1}`],
    },
    roles: [
      speaker("Feed", (answer, _heard, turn) => [
        [turn + 1 < items ? ["Guard", "Feed"] : ["Guard", "Pilot"], turn === at ? `${answer} smoke` : answer],
      ]),
      speaker("Guard", (answer, heard) => (heard.join(" ").includes("smoke") && !answer.includes("silent") ? [["Stop", "stop"]] : [])),
      clerk("Stop", () => [["Pilot", "stop"]]),
      speaker("Pilot", (answer, heard) => [["Log", heard.some((one) => one === "stop") ? `${answer} held` : `${answer} go`]], {
        keeps: true,
      }),
      clerk("Log", (heard) => [["Out", heard.join(" ")]]),
      out,
    ],
    beginTo: ["Feed"],
    isRight: (last) => last.includes("held"),
  });
};

/** Facts are filed early; a long talk about something else follows; the report at the end needs the facts. */
const archive: Make = (n) => {
  const turns = 4 + n;
  const names = ["Ann", "Bob"];
  const cause = ["r1#0", "r2#0", "r0#0", "r2#0", "r1#0"][n] as string;
  return plantedTeam({
    ...{
      name: `archive, ${cause}, then ${turns} turns`,
      cause,
      again: again(n),
      noise: noise(n),
      typos: ["r0#0", "Ann#0", "Bob#0", "Reporter#0"].filter((one) => one !== cause),
    },
    roles: [
      ...["r0", "r1", "r2"].map((name) => speaker(name, (answer) => [["Archive", answer]])),
      clerk("Archive", (heard, turn) => [turn === 0 ? ["Ann", "filed"] : ["Reporter", heard.slice(0, 3).join(" / ")]], 3),
      ...names.map((name, one) =>
        speaker(name, (answer, _heard, turn) => {
          const isLast = 2 * turn + one + 1 >= turns;
          return [[isLast ? "Archive" : (names[1 - one] as string), answer.replaceAll("bad", "odd")]];
        }),
      ),
      speaker("Reporter", (answer, heard) => [["Out", pass(answer, heard)]]),
      out,
    ],
    beginTo: ["r0", "r1", "r2"],
  });
};

export const kinds = { pipeline, tree, debate, blackboard, vote, planner, review, dialogue, guard, archive };
