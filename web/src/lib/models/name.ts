/** "organisation/model" as it is told apart where there is little room: by its end. */
export function shortName(name: string): string {
  return /^\S+\/(\S+)$/.exec(name)?.[1] ?? name;
}
