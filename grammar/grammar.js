/**
 * The text of one OpenMP directive: what follows the `omp` sentinel, continuations included.
 *
 * The grammar knows no directive, clause or modifier by name. Where the words of a directive's name end and its clauses
 * begin is a matter of the specification's tables, which differ from version to version; here both are `item`s, a word
 * with or without an argument in parentheses. Arguments are balanced trees of tokens, so that no clause, known or unknown,
 * well-formed or not, can cost the reader more than itself, and a variable may have the name of any clause or modifier.
 */
module.exports = grammar({
  name: 'openmp',

  // White space, the `\` that continues a line (compilers allow blanks behind it), and comments.
  extras: $ => [/\s/, /\\[ \t\v\f]*\r?\n/, $.comment],

  word: $ => $.word,

  // One step less of the parser for each token.
  inline: $ => [$._token],

  rules: {
    directive: $ => repeat(choice($.item, ',')),

    item: $ => seq(field('name', $.word), optional(field('argument', $.argument))),

    argument: $ => seq('(', repeat($._token), ')'),

    _token: $ => choice(
      $.word,
      $.number,
      $.string,
      $.character,
      $.operator,
      ',',
      ':',
      '::',
      '?',
      '.',
      '->',
      '*',
      $.parenthesized,
      $.bracketed,
      $.braced,
    ),

    parenthesized: $ => seq('(', repeat($._token), ')'),
    bracketed: $ => seq('[', repeat($._token), ']'),
    braced: $ => seq('{', repeat($._token), '}'),

    // Letters beyond ASCII are legal in identifiers; which of them the compiler takes is its own matter.
    word: _ => /[A-Za-z_$\u{80}-\u{10FFFF}][A-Za-z0-9_$\u{80}-\u{10FFFF}]*/u,

    // A preprocessing number (C11 6.4.8), with C++14's and C23's digit separators.
    number: _ => token(/\.?[0-9]('?[0-9A-Za-z_]|[eEpP][+-]|\.)*/),

    string: _ => token(seq(/(L|u8|u|U)?"/, repeat(choice(/[^"\\\r\n]/, /\\(.|\r?\n)/)), '"')),
    character: _ => token(seq(/(L|u8|u|U)?'/, repeat1(choice(/[^'\\\r\n]/, /\\(.|\r?\n)/)), '\'')),

    operator: _ => token(choice(
      '+', '-', '/', '%', '&', '|', '^', '~', '!', '=', '<', '>', ';', '#', '##', '@',
      '++', '--', '<<', '>>', '<=', '>=', '==', '!=', '<=>', '&&', '||', '...', '.*', '->*',
      '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=',
    )),

    comment: _ => token(choice(
      seq('//', /(\\[ \t\v\f]*\r?\n|[^\n])*/),
      seq('/*', /[^*]*\*+([^/*][^*]*\*+)*/, '/'),
    )),
  },
});
