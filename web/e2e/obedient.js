// A model that makes the calls it is told to make.
import { Provider } from './provider.js';
import { eventually } from './screen.js';

export async function obedient(inn) {
  const provider = await Provider.start();
  await inn.tell('POST', '/models', {
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
export async function addServer(inn, server, ...tools) {
  await inn.tell('POST', '/sources', server);
  const areThere = async () => {
    const known = (await inn.tell('GET', '/tools')).map(({ toolId }) => toolId);
    return tools.every((tool) => known.includes(tool));
  };
  await eventually('its tools', areThere, 30_000);
  await inn.tell('PATCH', '/tools', {
    layer: 'user',
    tools: tools.map((toolId) => ({ toolId, policy: 'allow' })),
  });
}
