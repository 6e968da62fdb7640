;; Which lines of a log can matter: the hot loop of the audit, about a million times for each 200 MB.
;;
;; It looks at sixteen bytes at a time, which JavaScript cannot. A line is passed over when it is certainly a stream chunk
;; that tells nothing: it begins as one does, ends as an object does, holds no escaped character (which could hide a word),
;; and does not hold both "finish" and "error". Every other line is reported, and src/audit/lines.ts decides about it.
(module
  ;; Bytes to look at, and the list of what was found. Sixteen bytes before and behind the text must exist.
  (import "audit" "memory" (memory 1))
  ;; After a scan: where the first line begins that was not looked at to its end, and how many lines were passed over.
  (global $rest (export "rest") (mut i32) (i32.const 0))
  (global $passed (export "passed") (mut i32) (i32.const 0))

  ;; Look at the lines from one address up to another, the first of which begins a line. The start and the end of every
  ;; line that can matter are written, two numbers each, from $list up to $listEnd at most. Returns where the list ends;
  ;; a list that is full is to be followed by another scan, from $rest.
  (func (export "scan") (param $from i32) (param $end i32) (param $list i32) (param $listEnd i32) (result i32)
    (local $at i32) (local $line i32) (local $place i32)
    (local $now v128) (local $before v128) (local $hits v128) (local $mask i32)
    (local $seen i32) ;; in this line: 1 "finish", 2 "error", 4 an escape
    (local $newline v128) (local $u v128) (local $backslash v128) (local $quote v128) (local $h v128) (local $r v128)
    (local.set $newline (i8x16.splat (i32.const 0x0A)))
    (local.set $u (i8x16.splat (i32.const 0x75)))
    (local.set $backslash (i8x16.splat (i32.const 0x5C)))
    (local.set $quote (i8x16.splat (i32.const 0x22)))
    (local.set $h (i8x16.splat (i32.const 0x68)))
    (local.set $r (i8x16.splat (i32.const 0x72)))
    (local.set $at (local.get $from))
    (local.set $line (local.get $from))
    (global.set $passed (i32.const 0))
    (block $done
      (loop $sixteen
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $now (v128.load (local.get $at)))
        (local.set $before (v128.load (i32.sub (local.get $at) (i32.const 1))))
        ;; A newline, the u of \u, or the closing quote of what could be "finish" or "error".
        (local.set $hits
          (v128.or
            (i8x16.eq (local.get $now) (local.get $newline))
            (v128.or
              (v128.and (i8x16.eq (local.get $now) (local.get $u)) (i8x16.eq (local.get $before) (local.get $backslash)))
              (v128.and (i8x16.eq (local.get $now) (local.get $quote))
                (v128.or (i8x16.eq (local.get $before) (local.get $h)) (i8x16.eq (local.get $before) (local.get $r)))))))
        (if (v128.any_true (local.get $hits))
          (then
            (local.set $mask (i8x16.bitmask (local.get $hits)))
            (loop $hit
              (local.set $place (i32.add (local.get $at) (i32.ctz (local.get $mask))))
              (br_if $done (i32.ge_u (local.get $place) (local.get $end)))
              (if (i32.ne (i32.load8_u (local.get $place)) (i32.const 0x0A))
                (then (local.set $seen (i32.or (local.get $seen) (call $word (local.get $place)))))
                (else
                  (if (call $passes (local.get $line) (local.get $place) (local.get $seen))
                    (then (global.set $passed (i32.add (global.get $passed) (i32.const 1))))
                    (else
                      (i32.store (local.get $list) (local.get $line))
                      (i32.store offset=4 (local.get $list) (local.get $place))
                      (local.set $list (i32.add (local.get $list) (i32.const 8)))))
                  (local.set $line (i32.add (local.get $place) (i32.const 1)))
                  (local.set $seen (i32.const 0))
                  (br_if $done (i32.eq (local.get $list) (local.get $listEnd)))))
              (local.set $mask (i32.and (local.get $mask) (i32.sub (local.get $mask) (i32.const 1))))
              (br_if $hit (local.get $mask)))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $sixteen)))
    (global.set $rest (local.get $line))
    (local.get $list))

  ;; What ends at this place, as a bit of $seen.
  (func $word (param $place i32) (result i32)
    (local $eight i64)
    (if (i32.eq (i32.load8_u (local.get $place)) (i32.const 0x75)) (then (return (i32.const 4))))
    (local.set $eight (i64.load (i32.sub (local.get $place) (i32.const 7))))
    (i32.or
      ;; "finish" with its quotes is eight bytes; the lowest is the first.
      (i64.eq (local.get $eight) (i64.const 0x226873696E696622))
      ;; "error" with its quotes is the last seven.
      (i32.shl (i64.eq (i64.shr_u (local.get $eight) (i64.const 8)) (i64.const 0x22726F72726522)) (i32.const 1))))

  ;; Whether the line from $line up to the newline at $end is certainly a chunk that tells nothing.
  (func $passes (param $line i32) (param $end i32) (param $seen i32) (result i32)
    (i32.and
      (i32.and
        (i32.lt_u (local.get $seen) (i32.const 3))
        (i32.gt_u (i32.sub (local.get $end) (local.get $line)) (i32.const 26)))
      (i32.and
        (i32.eq (i32.load8_u (i32.sub (local.get $end) (i32.const 1))) (i32.const 0x7D))
        (i32.eqz
          (v128.any_true
            (v128.or
              ;; {"type":"assista
              (v128.xor (v128.load (local.get $line))
                (v128.const i8x16 0x7B 0x22 0x74 0x79 0x70 0x65 0x22 0x3A 0x22 0x61 0x73 0x73 0x69 0x73 0x74 0x61))
              ;; ssistant/chunk",
              (v128.xor (v128.load offset=10 (local.get $line))
                (v128.const i8x16 0x73 0x73 0x69 0x73 0x74 0x61 0x6E 0x74 0x2F 0x63 0x68 0x75 0x6E 0x6B 0x22 0x2C))))))))
  ;; The place behind the bracket that closes one which was opened before $at, or 0 when none does before $end.
  (func (export "close") (param $at i32) (param $end i32) (result i32)
    (local $now v128) (local $mask i32) (local $place i32) (local $byte i32) (local $depth i32) (local $text i32) (local $from i32)
    (local $quote v128) (local $backslash v128) (local $bit v128) (local $open v128) (local $shut v128)
    (local.set $quote (i8x16.splat (i32.const 0x22)))
    (local.set $backslash (i8x16.splat (i32.const 0x5C)))
    ;; With this bit set [ is {, and ] is }.
    (local.set $bit (i8x16.splat (i32.const 0x20)))
    (local.set $open (i8x16.splat (i32.const 0x7B)))
    (local.set $shut (i8x16.splat (i32.const 0x7D)))
    (local.set $depth (i32.const 1))
    (block $none
      (loop $sixteen
        (br_if $none (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $now (v128.load (local.get $at)))
        (local.set $mask
          (i8x16.bitmask
            (v128.or
              (v128.or (i8x16.eq (local.get $now) (local.get $quote)) (i8x16.eq (local.get $now) (local.get $backslash)))
              (v128.or
                (i8x16.eq (v128.or (local.get $now) (local.get $bit)) (local.get $open))
                (i8x16.eq (v128.or (local.get $now) (local.get $bit)) (local.get $shut))))))
        (block $next
          (loop $hit
            (br_if $next (i32.eqz (local.get $mask)))
            (local.set $place (i32.add (local.get $at) (i32.ctz (local.get $mask))))
            (local.set $mask (i32.and (local.get $mask) (i32.sub (local.get $mask) (i32.const 1))))
            (br_if $none (i32.ge_u (local.get $place) (local.get $end)))
            ;; What a backslash escapes is nothing by itself.
            (br_if $hit (i32.lt_u (local.get $place) (local.get $from)))
            (local.set $byte (i32.load8_u (local.get $place)))
            (if (i32.eq (local.get $byte) (i32.const 0x5C))
              (then (local.set $from (i32.add (local.get $place) (i32.const 2))) (br $hit)))
            (if (i32.eq (local.get $byte) (i32.const 0x22))
              (then (local.set $text (i32.eqz (local.get $text))) (br $hit)))
            (br_if $hit (local.get $text))
            ;; An opening bracket has this bit, a closing one the next.
            (local.set $depth
              (select (i32.add (local.get $depth) (i32.const 1)) (i32.sub (local.get $depth) (i32.const 1))
                (i32.and (local.get $byte) (i32.const 2))))
            (br_if $hit (local.get $depth))
            (return (i32.add (local.get $place) (i32.const 1)))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $sixteen)))
    (i32.const 0)))
