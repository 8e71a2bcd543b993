/* context.c -- room cli: the one context of the process, and Ctrl-C. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

static nkl_ctx *volatile the_context;
static volatile sig_atomic_t pressed, waiting;

static void on_interrupt(int signal_number) {
  (void)signal_number;
  pressed = 1;
  if (the_context && !waiting) nkl_interrupt(the_context);
}

/* Without SA_RESTART, so that a read from the terminal ends; the second Ctrl-C finds the default action. */
void interrupt_arm(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_interrupt;
  action.sa_flags = (int)SA_RESETHAND;
  sigaction(SIGINT, &action, NULL);
}

void interrupt_disarm(void) { signal(SIGINT, SIG_DFL); }

void interrupt_waiting(int on) { waiting = on; }

int interrupt_pending(void) {
  int was = pressed;
  pressed = 0;
  return was;
}

int context_open(nkl_ctx **out, const nkl_options *o) {
  if (nkl_open(out, o) != NKL_OK) {
    int status = fail_usage(*out);
    nkl_close(*out);
    *out = NULL;
    return status;
  }
  the_context = *out;
  interrupt_arm();
  return EXIT_OK;
}

/* Nothing asks for an interrupt any more: Ctrl-C just ends a finalizer that does not return. */
void context_close(nkl_ctx *c) {
  interrupt_disarm();
  the_context = NULL;
  nkl_close(c);
}
