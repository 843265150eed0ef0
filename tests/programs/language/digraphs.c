// Digraphs: another spelling of brackets.
%:include <stdio.h>

int main(void) <%
    int a<:3:> = <% 1, 2, 3 %>;
    printf("%d\n", a<:1:> + a[2]);
    return 0;
%>
//~ STDOUT: 5
