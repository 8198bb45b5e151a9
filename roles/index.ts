/** The roles of the shipped companies. Published as `troupe/roles`. */

export { companyRounds, softwareCompany } from "./company/software-company.ts";
export { type Delivery, DeliverySchema } from "../actions/company/delivery.ts";
export type { Verifier } from "../src/checks/index.ts";
export type { SystemDesign, WorkOrder, WorkTask } from "../actions/company/work-order.ts";
export { waterfallCompany } from "./waterfall/waterfall-company.ts";
export { dataInterpreter } from "./data-interpreter.ts";
export { research } from "./research.ts";
export { type Crew, openCrew, readCrew } from "./crew/open-crew.ts";
export { type Person, simulatedPeople } from "./crew/simulated-people.ts";
export { openWorkflow } from "./crew/workflow.ts";
export { checkCrew, type CrewReport } from "./crew/check-crew.ts";
export { shippedCrews } from "./crew/shipped-crews.ts";
