; Directive, clause and modifier words are contextual: any of them may be a variable's name as well.

(comment) @comment
(number) @number
(string) @string
(character) @character
(operator) @operator
["::" "?" "." "->" "*"] @operator
["," ":"] @punctuation.delimiter
["(" ")" "[" "]" "{" "}"] @punctuation.bracket

; A name with parentheses is a clause (or takes the directive's own argument), one without is part of the directive's name or
; a clause that takes nothing.
(item name: (word) @keyword !argument)
(item name: (word) @function argument: (argument))

; What stands before a colon in a clause's parentheses is its modifier.
(argument . (word) @attribute . ":")
(word) @variable
