// What a server says about itself: an OpenAPI document, or capabilities that are HTTP requests.
export interface Description {
  openapi?: unknown;
  swagger?: unknown;
  info?: { title?: unknown };
  paths?: unknown;
  security?: unknown;
  capabilities?: unknown;
  serverInfo?: { name?: unknown };
}

export function parseDescription(text: string): Description | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value && typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** YAML and broken documents are left to Tenon; one line says what it is meant to be. */
export function isDescription(main: Description | undefined, text: string): boolean {
  return main
    ? 'openapi' in main || 'swagger' in main || hasCapabilities(main)
    : /^[\s{]*["']?(openapi|swagger)["']?\s*:/m.test(text);
}

/** Tools that are described as HTTP requests; MCP has an object of this name. */
export function hasCapabilities({ capabilities }: Description): boolean {
  return (
    Array.isArray(capabilities) &&
    capabilities.some((one: unknown) => isObject(one) && 'id' in one && 'invocation' in one)
  );
}

export function isEmptyObject(paths: unknown = {}): boolean {
  return isObject(paths) && Object.keys(paths).length === 0;
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function titleOf(main: Description | undefined): string {
  const title = main?.info?.title ?? main?.serverInfo?.name;
  return typeof title === 'string' ? title : '';
}
