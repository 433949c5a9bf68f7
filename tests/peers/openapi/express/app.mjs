// An Express app that answers with what Express and its usual parsers read, and
// under /styles with what openapi-enforcer reads of every parameter style.
// Takes a free port and prints it. Its argument is where it was installed.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";

const require = createRequire(process.argv[2] + "/");
const express = require("express");
const cookies = require("cookie-parser");
const multer = require("multer");
const Enforcer = require("openapi-enforcer");

const app = express();
app.set("query parser", "extended");
app.use(cookies());

const schemas = {
  string: { type: "string" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  array: { type: "array", items: { type: "string" } },
  object: { type: "object", properties: { R: { type: "integer" }, G: { type: "integer" }, B: { type: "string" } } },
};
const styles = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
  cookie: ["form"],
};

// Every style, exploded or not, for every kind of value.
const paths = {};
for (const place in styles)
  for (const style of styles[place])
    for (const explode of [false, true])
      for (const kind in schemas) {
        const name = place === "header" ? "x-color" : "color";
        const parameter = { name, in: place, required: place === "path", style, explode, schema: schemas[kind] };
        const end = place === "path" ? "/{color}" : "";
        const path = { get: { parameters: [parameter], responses: { 200: { description: "" } } } };
        // What the specification does not define is no path.
        const document = { openapi: "3.0.3", info: { title: "", version: "" }, paths: { "/x{color}": path } };
        if (place !== "path") document.paths = { "/x": path };
        const [, error] = await Enforcer(structuredClone(document), { fullResult: true });
        if (!error) paths[`/styles/${place}/${style}/${explode}/${kind}${end}`] = path;
      }
const enforcer = await Enforcer({ openapi: "3.0.3", info: { title: "Styles", version: "1" }, paths });

app.get("/styles", (_, response) => response.json(Object.keys(paths)));
app.use("/styles", (request, response) => {
  const { method, headers } = request;
  const [read, error] = enforcer.request({ method, path: request.originalUrl, headers });
  if (error) return response.status(400).json({ detail: error.toString() });
  const { path, query, cookie } = read;
  response.json({ path, query, header: read.headers ?? read.header, cookie });
});

app.all("/echo/:one/:two", express.json({ type: ["json", "+json"] }), express.urlencoded({ extended: true }), express.text({ type: "text/*" }), express.raw({ type: "application/octet-stream" }), (request, response) => {
  const body = Buffer.isBuffer(request.body) ? { base64: request.body.toString("base64") } : request.body;
  const { params, query, cookies, headers } = request;
  response.json({ params, query, cookies, header: headers["x-color"] ?? null, body: body ?? null });
});

app.post("/upload", multer({ defParamCharset: "utf8" }).any(), (request, response) => {
  const files = request.files.map((file) => ({
    field: file.fieldname,
    name: file.originalname,
    type: file.mimetype,
    data: file.buffer.toString("base64"),
  }));
  response.json({ body: request.body, files });
});

// A description in several files, to which the page at the root links.
app.use("/api", express.static(fileURLToPath(new URL("api", import.meta.url))));
app.get("/", (_, response) => {
  response.links({ "service-desc": "/api/openapi.yaml" }).type("html").send("<!doctype html><title>Echo</title>");
});

// Answers packed as they are asked for.
const packers = { br: brotliCompressSync, deflate: deflateSync, gzip: gzipSync };
app.get("/packed/:how", (request, response) => {
  const { how } = request.params;
  if (!(request.headers["accept-encoding"] ?? "").includes(how)) return response.status(406).end();
  response.type("json").set("content-encoding", how).send(packers[how](JSON.stringify({ how, text: "é".repeat(1000) })));
});

const server = app.listen(0, "127.0.0.1", () => {
  console.log(`express is listening on http://127.0.0.1:${server.address().port}`);
});
