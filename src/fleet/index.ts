/** Runs that are driven by many processes. Published as `troupe/fleet`. */

export type { Delivery, DeliveryHandler, JobInfo, RunDriver, RunJob, Verdict, Working, WorkOptions } from "../team/run-driver.ts";
