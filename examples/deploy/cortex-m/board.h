/* Functions of board.c. */

#include <stddef.h>
#include <stdint.h>

int main(void);
void reset(void);
void end(int code) __attribute__((noreturn));
uint32_t ticks_left(void);
void print(const char *text);
void print_number(uint64_t number);
intptr_t open_file(const char *name, int writes);
int read_file(intptr_t file, void *to, uint32_t bytes);
int write_file(intptr_t file, const void *from, uint32_t bytes);
void close_file(intptr_t file);
