// Which pictures from the web are shown: those that somebody asked for during this visit, and
// those of hosts that they trust, which the browser remembers. Nothing else is asked for.
import { SvelteSet } from 'svelte/reactivity';
import { loadSetting, saveSetting } from '$lib/storage';

const KEY = 'imageHosts';
const MAX_HOSTS = 200;

class ImageHosts {
  #asked = new SvelteSet<string>();
  /** Counts the changes of what is remembered. */
  #changes = $state(0);

  isShown(url: string): boolean {
    return this.#asked.has(url) || this.isTrusted(imageHost(url));
  }

  isTrusted(host: string): boolean {
    void this.#changes;
    return trustedHosts().includes(host);
  }

  ask(url: string): void {
    this.#asked.add(url);
  }

  trust(host: string): void {
    this.#save([...trustedHosts().filter((other) => other !== host), host].slice(-MAX_HOSTS));
  }

  distrust(host: string): void {
    this.#save(trustedHosts().filter((other) => other !== host));
  }

  #save(hosts: string[]): void {
    saveSetting(KEY, hosts.join(' '));
    this.#changes += 1;
  }
}

export const imageHosts = new ImageHosts();

/** With its port; empty where the address is none. */
export function imageHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

/** Read each time: which account it is for is known late. */
function trustedHosts(): string[] {
  return (loadSetting(KEY) ?? '').split(' ').filter((host) => host !== '');
}
