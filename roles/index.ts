/** The people of a software company. Published as `troupe/roles`. */

export { softwareCompany, type SoftwareCompanyOptions } from "./software-company.ts";
export { ProductManager } from "./product-manager.ts";
export { Architect } from "./architect.ts";
export { ProjectManager } from "./project-manager.ts";
export { Engineer, type EngineerOptions } from "./engineer.ts";
export { QaEngineer, type QaEngineerOptions } from "./qa-engineer.ts";
