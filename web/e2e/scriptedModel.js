// A model that makes the calls it is told to make.
import { Provider } from './provider.js';
import { eventually } from './screen.js';

export async function startScriptedModel(suite) {
  const provider = await Provider.start();
  await suite.tell('POST', '/models', {
    provider: 'openai',
    baseUrl: `${provider.url}/v1`,
    key: provider.key,
    model: 'fake-small',
    toolMode: 'native',
    isDefault: true,
  });
  return provider;
}

/** Adds a server, waits for these tools of it, and asks nobody before they are called. */
export async function addServer(suite, server, ...tools) {
  await suite.tell('POST', '/sources', server);
  const areThere = async () => {
    const known = (await suite.tell('GET', '/tools')).map(({ toolId }) => toolId);
    return tools.every((tool) => known.includes(tool));
  };
  await eventually('its tools', areThere, 30_000);
  await suite.tell('PATCH', '/tools', {
    layer: 'user',
    tools: tools.map((toolId) => ({ toolId, policy: 'allow' })),
  });
}
