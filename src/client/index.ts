/** A client of a server of runs, and forms of questions for a page, for browsers and Node. Published as `troupe/client`. */

export { type ClientOptions, createClient, type RunClient } from "./client.ts";
export { fieldFault, filledIn, type FormField, formFields, readField } from "../tool/form-fields.ts";
export { checkAnswer, faultsText, type QuestionForm } from "../tool/question-form.ts";
