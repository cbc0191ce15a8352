throw new SyntaxError('broken while loading');
