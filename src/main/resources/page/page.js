// Without this script the page works by links and a form. With it, it answers while one types and keeps up to date.
(() => {
  'use strict';
  const EVERY = 10000;
  const PAUSE = 250;
  const id = (name) => document.getElementById(name);
  const form = id('filter');
  const text = id('q');
  const live = id('live');
  const stale = id('stale');
  let tag = '';
  let shown = location.search;
  let asking = null;
  let typing = 0;
  let seen = new Date();

  function put(page) {
    const active = document.activeElement;
    const focused = id('content').contains(active) ? active.id : '';
    const next = page.getElementById('content');
    id('content').replaceChildren(...next.childNodes);
    document.title = page.title;
    for (const field of form.querySelectorAll('input[type=hidden]')) {
      field.value = page.querySelector(`#filter input[name=${field.name}]`).value;
    }
    if (active !== text) {
      text.value = page.getElementById('q').value;
    }
    if (focused) {
      (id(focused) || id('content')).focus({preventScroll: true});
    }
  }

  function outOfDate(why) {
    stale.textContent = `${why} What is shown is as of ${seen.toLocaleTimeString()}.`;
    stale.hidden = false;
  }

  async function show(search, tell) {
    if (asking) {
      asking.abort();
    }
    const mine = new AbortController();
    asking = mine;
    const again = search === shown && tag;
    try {
      const answer = await fetch(search || '?', {
        cache: 'no-store',
        signal: mine.signal,
        headers: again ? {'If-None-Match': tag} : {},
      });
      if (answer.status !== 304) {
        const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
        if (!page.getElementById('content')) {
          throw new Error(`The operator answers ${answer.status}.`);
        }
        put(page);
        tag = answer.headers.get('ETag') || '';
        shown = search;
      }
      seen = new Date();
      stale.hidden = true;
      if (tell && id('found')) {
        id('said').textContent = id('found').textContent;
      }
    } catch (failed) {
      if (failed.name !== 'AbortError') {
        outOfDate(failed.message.startsWith('The operator') ? failed.message : 'The operator does not answer.');
      }
    } finally {
      if (asking === mine) {
        asking = null;
      }
    }
  }

  function asked() {
    const wanted = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (value) {
        wanted.set(name, value);
      }
    }
    return wanted.size ? `?${wanted}` : '?';
  }

  function find() {
    clearTimeout(typing);
    const search = asked();
    history.replaceState(null, '', search);
    show(search, true);
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    find();
  });
  text.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(find, PAUSE);
  });
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="?"]');
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) {
      return;
    }
    event.preventDefault();
    clearTimeout(typing);
    const search = link.getAttribute('href');
    history.pushState(null, '', search);
    if (link.id === 'home' || link.id === 'clear' || link.id === 'back') {
      text.value = '';
    }
    const elsewhere = !link.closest('.chips, .policies, .found');
    show(search, true).then(() => {
      if (elsewhere) {
        scrollTo(0, 0);
        id('content').focus({preventScroll: true});
      }
    });
  });
  addEventListener('popstate', () => show(location.search, true));
  document.addEventListener('keydown', (event) => {
    const typed = event.target.matches('input:not([type=checkbox]), textarea');
    if (event.key === '/' && !typed && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      text.focus();
      text.select();
    }
  });
  live.closest('label').hidden = false;
  setInterval(() => {
    if (live.checked && !document.hidden && !asking) {
      show(shown, false);
    }
  }, EVERY);
  document.addEventListener('visibilitychange', () => {
    if (live.checked && !document.hidden) {
      show(shown, false);
    }
  });
})();
