// A module of teams as a user writes one: companies and a crew, each run of which has a project of its own. The provider is a server of the tests
// that plays bundled ideas.
import { Team, usd } from "../../dist/src/index.js";
import { openCrew, readCrew, softwareCompany, waterfallCompany } from "../../dist/roles/index.js";
import { chooseSandbox, fileWorkspace } from "../../dist/src/workspace/index.js";

const { FLEET_PROVIDER = "" } = process.env;
// The products are part of this package.
const sandbox = await chooseSandbox("none");
const crewFile = await readCrew("{ name: crew, use: software-company, with: { stack: node } }");

function modelOf(idea) {
  return {
    id: "scripted-demo",
    price: { input: 0.25, output: 2 },
    streams: false,
    async chat(request, { signal }) {
      const reply = await fetch(FLEET_PROVIDER, { method: "POST", body: JSON.stringify({ idea, request }), signal });
      return reply.json();
    },
  };
}

function teamOf(name, idea, rolesIn) {
  return ({ journal, driver, workspaces }) => {
    const roles = ({ runId }) => rolesIn({ workspace: fileWorkspace({ root: workspaces.folderOf(runId) }), sandbox });
    // The kills of the tests meet activations that are not at fault, some of them three times.
    return new Team({ name, seed: "fleet", model: modelOf(idea), journal, driver, roles, budget: usd(20), poisonAfter: 1_000 });
  };
}

export const company = teamOf("company", "shopping", softwareCompany);
export const waterfall = teamOf("waterfall", "life", waterfallCompany);
export const large = teamOf("large", "calculator", softwareCompany);
export const crew = teamOf("crew", "shopping", (ports) => openCrew(crewFile, ports).roles);
