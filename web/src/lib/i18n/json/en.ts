// The words around JSON of tools, loaded with the first one.
export const jsonEn = {
  view: 'View',
  views: { tree: 'Tree', table: 'Table', plain: 'Plain' },
  items: (count: number) => (count === 1 ? '1 item' : `${count} items`),
  fields: (count: number) => (count === 1 ? '1 field' : `${count} fields`),
  rows: (count: number) => (count === 1 ? '1 row' : `${count} rows`),
  showMore: (more: number, all: number) => `Show ${more} more of ${all}`,
  showAll: 'Show all',
  showLess: 'Show less',
  moreColumns: 'There are more columns than are shown here; the tree has them all.',
  copyCsv: 'Copy as CSV',
  copyJson: 'Copy as JSON',
};

export type JsonMessages = typeof jsonEn;
