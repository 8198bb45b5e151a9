/** The roles of the shipped companies. Published as `troupe/roles`. */

// The software company: its product is proven by running it.
export { companyRounds, softwareCompany } from "./company/software-company.ts";
export type { Delivery } from "../actions/company/delivery.ts";
export { DeliverySchema } from "../actions/company/delivery.ts";
export type { Verifier } from "../src/checks/index.ts";
export type { SystemDesign, WorkOrder, WorkTask } from "../actions/company/work-order.ts";

// The waterfall of MetaGPT.
export { waterfallCompany } from "./waterfall/waterfall-company.ts";

// Small crews of MetaGPT's.
export { dataInterpreter } from "./data-interpreter.ts";
export { research } from "./research.ts";

// A crew is a file.
export { type Crew, openCrew, readCrew } from "./crew/open-crew.ts";
export { checkCrew, type CrewReport } from "./crew/check-crew.ts";
export { shippedCrews } from "./crew/shipped-crews.ts";
