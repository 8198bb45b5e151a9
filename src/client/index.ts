/** A client of a server of runs, and forms of questions for a page, for browsers and Node. Published as `troupe/client`. */

export { type ClientOptions, createClient, type RunClient } from "./client.ts";
export type { CallOptions, ChangeOptions, GoOnOptions, ListOptions, SayOptions, StartOptions, WatchOptions } from "./call-options.ts";
export type { SayResult } from "./say.ts";
export type {
  ContinueRequest,
  ContinueTerms,
  ForgetRequest,
  ForkChange,
  ForkRequest,
  HireRequest,
  MessageReceipt,
  OutsideMessage,
  ReplayReport,
  RunPage,
  ServedTeam,
  StartRequest,
  TeamChangeTerms,
} from "./wire.ts";
export type { Forgotten } from "../team/forget.ts";
export type { AnswerFault } from "../tool/answer-faults.ts";
export { fieldFault, type FieldKind, filledIn, type FormField, formFields, readField } from "../tool/form-fields.ts";
export { type AnswerCheck, checkAnswer, type Choice, faultsText, type QuestionForm } from "../tool/question-form.ts";
