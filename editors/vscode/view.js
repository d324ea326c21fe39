// Pages that show what the server sends. Nothing here needs an editor, so that tests can call it.
'use strict';

function escape(text) {
  return String(text).replace(/[&<>"']/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c]);
}

/** A page with a picture and a text. No script may run in it, and nothing is loaded from anywhere. */
function page(title, svg, text) {
  const picture = svg ? `<div class="picture">${withoutScripts(svg)}</div>` : '';
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${escape(title)}</title>
<style>.picture { background: white; overflow: auto; } svg { max-width: 100%; height: auto; } pre { white-space: pre-wrap; }</style>
</head><body>${picture}<pre>${escape(text || '')}</pre></body></html>`;
}

/** The pictures of the server hold no scripts; should one ever, it is left out. */
function withoutScripts(svg) {
  return svg.replace(/<\?xml[^>]*\?>/g, '').replace(/<script[\s\S]*?<\/script\s*>/gi, '');
}

module.exports = { page, escape };
