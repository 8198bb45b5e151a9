import { z } from "zod";
import { ErrorSchema } from "../client/wire.ts";
import { ROUTES, type Route } from "./routes.ts";

type JsonObject = { readonly [key: string]: unknown };

export function openApi(version: string): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of ROUTES) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Troupe", version, description: "Runs of a company of roles: start, watch, steer." },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      responses: {
        Error: {
          description: "What was expected, what came, and what to do.",
          content: { "application/json": { schema: schemaOf(ErrorSchema) } },
        },
      },
    },
  };
}

function operation({ name, summary, path, query, body, isBodyOptional, hasKey, response }: Route): JsonObject {
  const { status, schema, type = "application/json" } = response;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, param]) => ({
    name: param,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inHeader = hasKey === true ? [header("Idempotency-Key", "Makes the request safe to repeat.")] : [];
  const lastId = name === "events" ? [header("Last-Event-ID", "The last event that came: the stream continues after it.")] : [];
  const content = { [type]: { schema: schema === undefined ? { type: "string" } : schemaOf(schema) } };
  return {
    operationId: name,
    summary,
    parameters: [...inPath, ...inHeader, ...lastId, ...queryParameters(query)],
    ...(body === undefined
      ? {}
      : { requestBody: { required: isBodyOptional !== true, content: { "application/json": { schema: schemaOf(body) } } } }),
    responses: { [String(status)]: { description: summary, content }, default: { $ref: "#/components/responses/Error" } },
  };
}

function header(name: string, description: string): JsonObject {
  return { name, in: "header", required: false, description, schema: { type: "string" } };
}

function queryParameters(query: z.ZodType | undefined): readonly JsonObject[] {
  if (query === undefined) return [];
  const { properties = {} } = schemaOf(query) as { readonly properties?: Readonly<Record<string, JsonObject>> };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: false,
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

function schemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _version, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    // Zod says it of types that a program may not change. In OpenAPI it means that no request may have the member.
    override: ({ jsonSchema }) => void delete jsonSchema.readOnly,
  }) as JsonObject;
  return rest;
}
