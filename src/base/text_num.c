/* text_num.c -- room base: doubles and floats to shortest decimal and back, independent of the locale. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* A decimal d1 d2 ... dn (no point) times 10^(exp10 - n + 1): exp10 belongs to d1. */
typedef struct Decimal {
  char digit[20];
  int n, exp10;
} Decimal;

enum { LONGEST = 800 }; /* significant digits that can matter to a double: 767, then one that says "more follow" */

/* The p-digit decimal nearest to v > 0. printf's decimal point is the locale's, so only digits are picked up. */
static Decimal decimal_of(double v, int p) {
  char buf[64];
  snprintf(buf, sizeof buf, "%.*e", p - 1, v);
  Decimal d = {.n = 0};
  const char *s = buf;
  for (; *s != 'e'; s++)
    if (*s >= '0' && *s <= '9') d.digit[d.n++] = *s;
  d.exp10 = (int)strtol(s + 1, NULL, 10);
  return d;
}

static void decimal_up(Decimal *d) { /* one unit in the last digit */
  int i = d->n - 1;
  while (i >= 0 && d->digit[i] == '9') d->digit[i--] = '0';
  if (i >= 0) {
    d->digit[i]++;
    return;
  }
  d->digit[0] = '1'; /* 99..9 became 100..0 with one more digit, which is a zero: drop it */
  d->exp10++;
}

static bool reads_back(const Decimal *d, double v, bool single) {
  char buf[48];
  snprintf(buf, sizeof buf, "%.*se%d", d->n, d->digit, d->exp10 - d->n + 1);
  return single ? strtof(buf, NULL) == (float)v : strtod(buf, NULL) == v;
}

/* The shortest decimal that reads back to v > 0; of several, the nearest to v. */
static Decimal shortest(double v, bool single) {
  bool subnormal = single ? v < 0x1p-126 : v < 0x1p-1022;
  int exp2;
  bool power = frexp(v, &exp2) == 0.5; /* the gap below a power of two is half the gap above */
  int last = single ? 9 : 17;
  int first = subnormal ? 1 : last - 2 - single; /* below these digits every decimal survives: 15 and 6 */
  Decimal d;
  for (int p = first;; p++) {
    d = decimal_of(v, p);
    if (p == last || reads_back(&d, v, single)) break;
    Decimal up = d;
    if (power) decimal_up(&up);
    if (power && reads_back(&up, v, single)) {
      d = up;
      break;
    }
  }
  while (d.n > 1 && d.digit[d.n - 1] == '0') d.n--;
  return d;
}

static void put_zeros(Text *t, int n) {
  while (n-- > 0) text_putc(t, '0');
}

static void put_decimal(Text *t, const Decimal *d) {
  if (d->exp10 < -4 || d->exp10 >= 16) {
    text_putc(t, d->digit[0]);
    text_putc(t, '.');
    text_add(t, d->n > 1 ? d->digit + 1 : "0", d->n > 1 ? (size_t)(d->n - 1) : 1);
    char exponent[12];
    text_add(t, exponent, (size_t)snprintf(exponent, sizeof exponent, "e%+03d", d->exp10));
  } else if (d->exp10 < 0) {
    text_puts(t, "0.");
    put_zeros(t, -d->exp10 - 1);
    text_add(t, d->digit, (size_t)d->n);
  } else {
    int whole = d->exp10 + 1, have = d->n < whole ? d->n : whole;
    text_add(t, d->digit, (size_t)have);
    put_zeros(t, whole - have);
    text_putc(t, '.');
    text_add(t, d->n > have ? d->digit + have : "0", d->n > have ? (size_t)(d->n - have) : 1);
  }
}

static void put_number(Text *t, double v, bool single) {
  if (isnan(v)) {
    text_puts(t, "nan");
    return;
  }
  if (signbit(v)) text_putc(t, '-');
  v = fabs(v);
  if (isinf(v)) {
    text_puts(t, "inf");
  } else if (v < 0x1p53 && v == floor(v) && !(single && v >= 0x1p24)) {
    text_int(t, (int64_t)v);
    text_puts(t, ".0");
  } else {
    Decimal d = shortest(v, single);
    put_decimal(t, &d);
  }
}

void text_double(Text *t, double v) { put_number(t, v, false); }

void text_float(Text *t, float v) { put_number(t, (double)v, true); }

/* The digits and exponent of a literal, in a form strtod reads alike in every locale: it has no decimal point. */
typedef struct Literal {
  char digit[LONGEST + 16];
  int n;
  int64_t exp10;  /* of the last digit */
  bool any, tail; /* any digit seen; a dropped digit was not zero */
} Literal;

static const char *read_digits(Literal *l, const char *p, const char *end, bool fraction) {
  for (; p < end && *p >= '0' && *p <= '9'; p++) {
    l->any = true;
    bool keep = l->n < LONGEST && (l->n > 0 || *p != '0');
    if (keep) l->digit[l->n++] = *p;
    if (!keep && *p != '0') l->tail = true;
    if (fraction && (keep || l->n == 0)) l->exp10--;
    if (!fraction && !keep && l->n > 0) l->exp10++;
  }
  return p;
}

static const char *read_exponent(Literal *l, const char *p, const char *end) {
  bool minus = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) p++;
  if (p == end) return NULL;
  int64_t e = 0;
  for (; p < end && *p >= '0' && *p <= '9'; p++)
    if (e < INT64_C(100000000000000000)) e = e * 10 + (*p - '0');
  l->exp10 += minus ? -e : e;
  return p;
}

/* Fills l->digit with text for strtod; false when s is no number of the grammar. */
static bool read_literal(Literal *l, const char *s, size_t n) {
  const char *p = s, *end = s + n;
  l->n = 0;
  l->exp10 = 0;
  l->any = l->tail = false;
  p = read_digits(l, p, end, false);
  if (p < end && *p == '.') p = read_digits(l, p + 1, end, true);
  if (!l->any) return false;
  if (p < end && (*p == 'e' || *p == 'E')) p = read_exponent(l, p + 1, end);
  if (p != end) return false;
  if (l->n == 0) l->digit[l->n++] = '0'; /* zero, whatever the exponent */
  if (l->tail) {
    l->digit[l->n++] = '1';
    l->exp10--;
  }
  if (l->exp10 > 99999) l->exp10 = 99999;
  if (l->exp10 < -99999) l->exp10 = -99999;
  snprintf(l->digit + l->n, sizeof l->digit - (size_t)l->n, "e%d", (int)l->exp10);
  return true;
}

/* Sign, and the spellings that are not digits. 0: a number follows, 1: *out is done. */
static int read_special(const char **s, size_t *n, bool *minus, double *out) {
  if (*n == 3 && memcmp(*s, "nan", 3) == 0) {
    *out = NAN;
    return 1;
  }
  *minus = *n > 0 && **s == '-';
  if (*n > 0 && (**s == '-' || **s == '+')) {
    ++*s;
    --*n;
  }
  if (*n != 3 || memcmp(*s, "inf", 3) != 0) return 0;
  *out = *minus ? -INFINITY : INFINITY;
  return 1;
}

bool text_to_double(const char *s, size_t n, double *out) {
  bool minus;
  if (read_special(&s, &n, &minus, out)) return true;
  Literal l;
  if (!read_literal(&l, s, n)) return false;
  double v = strtod(l.digit, NULL);
  if (isinf(v)) return false;
  *out = minus ? -v : v;
  return true;
}

bool text_to_float(const char *s, size_t n, float *out) {
  bool minus;
  double special;
  if (read_special(&s, &n, &minus, &special)) {
    *out = (float)special;
    return true;
  }
  Literal l;
  if (!read_literal(&l, s, n)) return false;
  float v = strtof(l.digit, NULL);
  if (isinf(v)) return false;
  *out = minus ? -v : v;
  return true;
}

static void print(char *buf, size_t size, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  text_vsnprintf(buf, size, fmt, ap);
  va_end(ap);
}

const char *text_number(char buf[TEXT_NUMBER], double v, int digits) {
  if (isnan(v)) return memcpy(buf, "nan", 4), buf; /* printf shows its sign */
  buf[0] = '\0';
  print(buf, TEXT_NUMBER, "%.*g", digits, v);
  return buf;
}
